/** What came of the deliveries that were sent. */
import type { Delivery, Source } from '../../provider.js'
import { type Paint, plain, table } from '../output.js'
import type { Answer } from './post.js'

export type Trick = 'tamper' | 'stale' | 'conflict' | null

export interface Report {
  readonly provider: string
  readonly url: string
  readonly eventType: string | null
  readonly eventId: string | null
  /** How many events one delivery carries. */
  readonly events: number
  readonly trick: Trick
  readonly deliveries: number
  /** As the answers say; null when they are not hookonce's. */
  readonly recorded: number | null
  readonly duplicates: number | null
  readonly httpStatuses: Readonly<Record<string, number>>
  readonly latencyMs: { readonly min: number; readonly median: number; readonly max: number }
  /** The event in the server's API, where the answers are hookonce's. */
  readonly link: string | null
}

export function reportOf(
  source: Source,
  delivery: Delivery,
  answers: readonly Answer[],
  trick: Trick,
): Report {
  const [event, ...more] = source.identify(delivery)
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  const verdicts = answers.filter(({ httpStatus }) => httpStatus < 300).map(verdictOf)
  const ours = verdicts.length > 0 && verdicts.every((verdict) => verdict !== null)
  const httpStatuses: Record<string, number> = {}
  for (const { httpStatus } of answers) httpStatuses[httpStatus] = (httpStatuses[httpStatus] ?? 0) + 1
  const { origin, pathname } = new URL(delivery.url)
  const name = /^\/webhooks\/([^/]+)$/.exec(pathname)?.[1]
  return {
    provider: source.key,
    url: delivery.url,
    eventType: event?.type ?? null,
    eventId: event?.id ?? null,
    events: more.length + (event ? 1 : 0),
    trick,
    deliveries: answers.length,
    recorded: ours ? verdicts.filter((duplicate) => duplicate === false).length : null,
    duplicates: ours ? verdicts.filter((duplicate) => duplicate === true).length : null,
    httpStatuses,
    latencyMs: {
      min: round(times[0]!),
      median: round(times[Math.floor(times.length / 2)]!),
      max: round(times.at(-1)!),
    },
    link: ours && name && event ? `${origin}/api/events/${name}/${encodeURIComponent(event.id)}` : null,
  }
}

/** `duplicate` of hookonce's own answer; null when it is somebody else's. */
function verdictOf({ body }: Answer): boolean | null {
  try {
    const { status, duplicate } = JSON.parse(body) as { status?: unknown; duplicate?: unknown }
    return typeof status === 'string' && typeof duplicate === 'boolean' ? duplicate : null
  } catch {
    return null
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}

export function reportText(report: Report, paint: Paint): string {
  const { deliveries, recorded, duplicates, httpStatuses, latencyMs, trick } = report
  const statuses = Object.entries(httpStatuses)
  const answered =
    statuses.length === 1 ? `all ${statuses[0]![0]}` : statuses.map(([s, n]) => `${n} x ${s}`).join(', ')
  const verdicts =
    recorded === null || trick === 'tamper' || trick === 'stale'
      ? []
      : [`${recorded} recorded`, `${duplicates} ${duplicates === 1 ? 'duplicate' : 'duplicates'}`]
  const good = statuses.every(([status]) => status.startsWith('2'))
  const tricks = {
    tamper: ', changed after signing',
    stale: ', signed too long ago',
    conflict: ', the last with other bytes',
  }
  const sent = `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}${trick ? tricks[trick] : ''}`
  const rows = [
    [
      'event',
      plain(
        `${report.eventType ?? 'unknown'}  ${report.eventId ?? 'no id'}${report.events > 1 ? `  (and ${report.events - 1} more)` : ''}`,
      ),
    ],
    ['to', report.url],
    ['latency', `${latencyMs.min} ms at least, ${latencyMs.median} ms median, ${latencyMs.max} ms at most`],
    ...(report.link ? [['see', report.link]] : []),
  ]
  return `${sent} -> ${[...verdicts, paint(good === (trick !== 'tamper' && trick !== 'stale') ? 'green' : 'yellow', answered)].join(', ')}
${table(rows.map(([title, text]) => [paint('dim', `  ${title}`), text!]))}`
}
