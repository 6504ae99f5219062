/** Every value of an event goes through `printable`: senders and servers choose them. */
import type { AttemptView, EventView, PayloadView } from './log/event-log.js'
import { streamLine, table } from './output.js'
import { type Paint, printable, printableAll, type Style } from './terminal-text.js'
import { waitingText } from './waiting-text.js'

/** The same colours as in the dashboard; the table is in docs/dashboard.md. */
const stateStyle: Readonly<Record<EventView['state'], Style>> = {
  pending: 'dim',
  processing: 'cyan',
  succeeded: 'green',
  ignored: 'dim',
  failed: 'yellow',
}

function stateText(event: EventView, paint: Paint): string {
  if (event.dead) return paint('red', 'failed (dead letter)')
  const reason = event.state === 'ignored' && event.reason ? `: ${event.reason.slice(0, 40)}` : ''
  return paint(stateStyle[event.state] ?? 'dim', `${event.state}${reason}`)
}

export function eventTable(events: readonly EventView[], paint: Paint): string {
  const titles = ['RECEIVED', 'SOURCE', 'TYPE', 'ID', 'STATE', 'DELIVERIES', 'REFERENCE']
  const waits = events.map(waitsFor)
  const isShown = waits.some((text) => text !== '')
  return table([
    [...titles, ...(isShown ? ['WAITS'] : [])].map((title) => paint('dim', title)),
    ...events.map((event, i) => [...eventRow(event, paint), ...(isShown ? [waits[i]!] : [])]),
  ])
}

function eventRow(given: EventView, paint: Paint): string[] {
  const event = printableAll(given)
  const isOpen = event.lastConflict?.decidedAt === null
  const conflicts = isOpen ? paint('yellow', ` (${event.conflicts} in conflict)`) : ''
  return [
    time(event.receivedAt),
    event.source,
    event.type,
    event.id,
    `${stateText(event, paint)}${flagText(event, paint)}`,
    `${event.deliveries}${conflicts}`,
    event.reference ?? '',
  ]
}

/** Empty for an event that waits for nothing. The state says that it is being handled. */
function waitsFor({ waiting }: EventView): string {
  return waiting === null || waiting.kind === 'running' ? '' : printable(waitingText(waiting))
}

function flagText({ sameAs }: EventView, paint: Paint): string {
  return sameAs ? paint('yellow', ` (same signed content as ${sameAs})`) : ''
}

export function eventLine(event: EventView, paint: Paint): string {
  const [received, source, type, id, state] = eventRow(event, paint)
  return streamLine(paint, [received!, source!, type!, id!], state!)
}

export function eventDetail(given: EventView, givenAttempts: readonly AttemptView[], paint: Paint): string {
  const event = printableAll(given)
  const attempts = printableAll(givenAttempts)
  const own = event.references.find(({ value }) => value === event.reference)
  const rows: [string, string | null][] = [
    ['state', stateText(event, paint)],
    ['reason', event.state === 'failed' && event.reason ? event.reason : null],
    ['reference', own ? `${event.reference} (${own.label})` : event.reference],
    ...event.references.flatMap((one): [string, string][] => (one === own ? [] : [[one.label, one.value]])),
    ['received', event.receivedAt],
    ['processed', event.processedAt],
    ['waits', event.waiting && printable(waitingText(event.waiting))],
    ['next attempt', hasNextAttempt(event) ? event.nextAttemptAt : null],
    ['deliveries', `${event.deliveries}, the last ${event.lastDeliveryAt}`],
    ['conflicts', conflictText(event)],
    ['origin', originText(event)],
    ['flagged', event.sameAs ? `same signed content as ${event.sameAs}` : null],
    ['run', event.run > 1 ? `${event.run}: it was replayed` : null],
    ['payload', event.payload === 'kept' ? 'stored (--payload shows it)' : event.payload],
    ['place in log', String(event.seq)],
  ]
  const shown = rows.filter((row): row is [string, string] => row[1] !== null)
  const head = `${paint('bold', `${event.source}  ${event.type}  ${event.id}`)}
${table(shown.map(([title, text]) => [paint('dim', `  ${title}`), text]))}`
  return attempts.length === 0 ? head : `${head}\n\n${attemptTable(attempts, paint)}`
}

function originText({ origin }: EventView): string | null {
  if (origin === 'backfill') return "not delivered: reconcile read it from the sender's API"
  return origin === 'import' ? 'imported from another program' : null
}

/** The due time of an event that waits for another one, or for an operator, is only when it is looked at again. */
function hasNextAttempt({ waiting }: EventView): boolean {
  return waiting === null || !['behind', 'paused'].includes(waiting.kind)
}

function conflictText({ conflicts, lastConflict }: EventView): string | null {
  if (!lastConflict) return null
  const { decidedAt, hash } = lastConflict
  const decision =
    decidedAt === null ? `open: replay or ignore it with --conflict ${hash}` : `decided ${decidedAt}`
  return `${conflicts}: delivered again with other bytes, ${decision}`
}

function attemptTable(attempts: readonly AttemptView[], paint: Paint): string {
  const titles = ['ATTEMPT', 'STARTED', 'TOOK', 'OUTCOME', 'WORKER', 'DETAIL']
  return table([
    titles.map((title) => paint('dim', title)),
    ...attempts.map((attempt) => [
      String(attempt.attempt),
      time(attempt.startedAt),
      `${Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt)} ms`,
      paint(
        attempt.outcome === 'succeeded' ? 'green' : attempt.outcome === 'ignored' ? 'dim' : 'yellow',
        attempt.outcome,
      ),
      attempt.worker,
      [(attempt.detail ?? '').slice(0, 200), attempt.place].filter((text) => text).join('  '),
    ]),
  ])
}

export function payloadText({ headers, body }: PayloadView, paint: Paint): string {
  const lines = Object.entries(printableAll(headers)).map(
    ([name, value]) => `${paint('dim', name)}: ${value}`,
  )
  return `\n${lines.join('\n')}\n\n${readable(body)}`
}

/** Indents JSON, leaves other text unchanged, and replaces binary data by its size. */
function readable(body: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return indented(text).split('\n').map(printable).join('\n')
  } catch {
    return `(${body.byteLength} bytes that are not text; --raw writes them)`
  }
}

function indented(text: string): string {
  // A number with too many digits for a double would change: leave such a body unchanged.
  if (/\d[\d.]{14,}/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Local time. */
function time(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
