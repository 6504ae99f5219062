import type { Delivery, Source } from '../../provider.js'
import { counted, table } from '../output.js'
import type { Answer } from '../post.js'
import { type Paint, printable } from '../terminal-text.js'

export type Trick = 'tamper' | 'stale' | 'conflict' | null

export interface Report {
  readonly provider: string
  readonly url: string
  readonly type: string | null
  /** Of the first event. */
  readonly eventId: string | null
  /** Different events, of which each was delivered one or more times. */
  readonly sent: number
  /** In one delivery. */
  readonly events: number
  readonly trick: Trick
  readonly deliveries: number
  /** This and the next two are null when the endpoint is not hookonce. */
  readonly recorded: number | null
  readonly duplicates: number | null
  /** The store of the server is unavailable. */
  readonly spooled: number | null
  readonly httpStatuses: Readonly<Record<string, number>>
  readonly latencyMs: { readonly min: number; readonly median: number; readonly max: number }
  /** In the dashboard; null when the endpoint has none. */
  readonly link: string | null
}

export function reportOf(
  source: Source,
  delivery: Delivery,
  answers: readonly Answer[],
  {
    trick,
    sent,
    hasDashboard,
  }: { readonly trick: Trick; readonly sent: number; readonly hasDashboard: boolean },
): Report {
  const [event, ...more] = source.identify(delivery)
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  const verdicts = answers.filter(({ httpStatus }) => httpStatus < 300).map(verdictOf)
  const isHookonce = verdicts.length > 0 && verdicts.every((verdict) => verdict !== null)
  const countOf = (which: Verdict) =>
    isHookonce ? verdicts.filter((verdict) => verdict === which).length : null
  const httpStatuses: Record<string, number> = {}
  for (const { httpStatus } of answers) httpStatuses[httpStatus] = (httpStatuses[httpStatus] ?? 0) + 1
  const { origin, pathname } = new URL(delivery.url)
  const name = /^\/webhooks\/([^/]+)$/.exec(pathname)?.[1]
  return {
    provider: source.key,
    url: delivery.url,
    type: event?.type ?? null,
    eventId: event?.id ?? null,
    sent,
    events: more.length + (event ? 1 : 0),
    trick,
    deliveries: answers.length,
    recorded: countOf('recorded'),
    duplicates: countOf('duplicate'),
    spooled: countOf('spooled'),
    httpStatuses,
    latencyMs: {
      min: round(times[0]!),
      median: round(times[Math.floor(times.length / 2)]!),
      max: round(times.at(-1)!),
    },
    link:
      isHookonce && hasDashboard && name && event
        ? `${origin}/events/${name}/${encodeURIComponent(event.id)}`
        : null,
  }
}

type Verdict = 'recorded' | 'duplicate' | 'spooled'

/** Null when the answer is not from hookonce. */
function verdictOf({ body }: Answer): Verdict | null {
  try {
    const { status, duplicate } = JSON.parse(body) as { status?: unknown; duplicate?: unknown }
    if (typeof status !== 'string' || typeof duplicate !== 'boolean') return null
    return status === 'spooled' ? 'spooled' : duplicate ? 'duplicate' : 'recorded'
  } catch {
    return null
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}

function othersText({ sent, events }: Report): string {
  const others = sent * Math.max(1, events) - 1
  return others > 0 ? `  (and ${others} more)` : ''
}

export function reportText(report: Report, paint: Paint): string {
  const { deliveries, recorded, duplicates, spooled, httpStatuses, latencyMs, trick } = report
  const statuses = Object.entries(httpStatuses)
  const answered =
    statuses.length === 1 ? `all ${statuses[0]![0]}` : statuses.map(([s, n]) => `${n} x ${s}`).join(', ')
  const verdicts =
    recorded === null || trick === 'tamper' || trick === 'stale'
      ? []
      : [
          `${recorded} recorded`,
          counted(duplicates ?? 0, 'duplicate', 'duplicates'),
          ...(spooled ? [`${spooled} spooled`] : []),
        ]
  const good = statuses.every(([status]) => status.startsWith('2'))
  const tricks = {
    tamper: ', changed after signing',
    stale: ', signed with an old time',
    conflict: ', the last with other bytes',
  }
  const sent = `${counted(deliveries, 'delivery', 'deliveries')}${trick ? tricks[trick] : ''}`
  const rows = [
    ['event', printable(`${report.type ?? 'unknown'}  ${report.eventId ?? 'no id'}${othersText(report)}`)],
    ['to', report.url],
    ['latency', `${latencyMs.min} ms at least, ${latencyMs.median} ms median, ${latencyMs.max} ms at most`],
    ...(report.link ? [['see', report.link]] : []),
  ]
  return `${sent} -> ${[...verdicts, paint(good === (trick !== 'tamper' && trick !== 'stale') ? 'green' : 'yellow', answered)].join(', ')}
${table(rows.map(([title, text]) => [paint('dim', `  ${title}`), text!]))}`
}
