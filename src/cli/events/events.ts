/** `hookonce events`: list, show, tail and export. */
import { jsonText } from '../../log.js'
import type { EventFilter } from '../../model.js'
import { interruptible } from '../command.js'
import { Failure } from '../failure.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { eventKey, findEvent } from '../log/open-log.js'
import { counted, type Output } from '../output.js'
import { printable } from '../terminal-text.js'
import { eventDetail, eventLine, eventTable, payloadText } from './event-text.js'

/** Events per call. A page may have fewer events and still have a next page. */
const PAGE = 500
/** Payloads that are read together; each may have a megabyte. */
const PAYLOADS = 20
/** A store stops a long search early. After this many continuations the command prints how to continue. */
const MAX_CUTS = 50

export async function list(
  output: Output,
  log: EventLog,
  filter: EventFilter,
  page: { readonly limit: number; readonly cursor: string | null },
): Promise<void> {
  const events: EventView[] = []
  let next = page.cursor
  let cuts = 0
  do {
    const found = await log.list(filter, { limit: Math.min(PAGE, page.limit - events.length), cursor: next })
    events.push(...found.events)
    next = found.next
    if (found.cut) cuts++
  } while (next !== null && events.length < page.limit && cuts < MAX_CUTS)
  const cut = next !== null && events.length < page.limit
  const none = cut ? 'No event matches so far.' : 'No event matches.'
  output.result({ events, next, cut }, (paint) => (events.length === 0 ? none : eventTable(events, paint)))
  if (cut && !output.json)
    output.say(`The search stopped at its limit before the end of the log. Continue with --cursor ${next}`)
  else if (next !== null && !output.json) output.say(`There are more events: --cursor ${next}`)
}

export interface ShowOptions {
  readonly source?: string
  readonly payload?: boolean
  readonly raw?: boolean
  readonly note?: string
}

export async function show(output: Output, log: EventLog, text: string, options: ShowOptions): Promise<void> {
  const event = await findEvent(log, text, options.source)
  const key = eventKey(event)
  const withPayload = options.payload || options.raw
  const payload = withPayload ? await log.payload(key, options.note ?? '') : null
  if (options.raw) {
    if (payload === null) throw removed(event)
    writeRaw(payload.body)
    return
  }
  const attempts = await log.attempts(key)
  const shown = payload && {
    headers: payload.headers,
    part: payload.part,
    body: Buffer.from(payload.body).toString('base64'),
  }
  output.result({ event, attempts, ...(withPayload ? { payload: shown } : {}) }, (paint) => {
    const detail = eventDetail(event, attempts, paint)
    return payload === null ? detail : `${detail}\n${payloadText(payload, paint)}`
  })
  if (options.payload && payload === null) throw removed(event)
}

/** A terminal would execute the control characters of a payload. */
function writeRaw(body: Uint8Array): void {
  const text = Buffer.from(body)
    .toString('utf8')
    .replaceAll(/[\t\r\n]/g, ' ')
  if (process.stdout.isTTY && printable(text) !== text)
    throw new Failure(
      'The payload has characters that a terminal would execute. Write it to a file: add > payload.bin to the command.',
    )
  process.stdout.write(body)
}

function removed(event: EventView): Failure {
  return new Failure(
    `The payload of ${event.source}/${event.id} has been removed. If it was archived, hookonce archive restore brings it back.`,
  )
}

export interface TailCommandOptions {
  readonly source?: string
  readonly since?: number
}

/** Prints events as they are recorded, until SIGINT or SIGTERM. */
export async function tail(
  output: Output,
  log: EventLog,
  matches: (event: EventView) => boolean,
  { source, since }: TailCommandOptions,
): Promise<void> {
  const { signal } = interruptible()
  const after = since === undefined ? null : await positionBefore(log, since)
  output.say(`following ${log.name}; stop with Ctrl-C`)
  for await (const { events, gap } of log.follow({
    after,
    signal,
    ...(source === undefined ? {} : { source }),
  })) {
    if (gap) output.say('retention has deleted some events before they could be shown')
    for (const event of events) if (matches(event)) output.result(event, (paint) => eventLine(event, paint))
  }
}

/** The position before the first event that was received since `since`. */
export async function positionBefore(log: EventLog, since: number): Promise<number> {
  let oldest: number | null = null
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<EventLog['list']>> = await log.list(
      { from: since },
      { limit: PAGE, cursor },
    )
    oldest = page.events.at(-1)?.seq ?? oldest
    cursor = page.next
  } while (cursor !== null)
  return oldest === null ? newestPosition(log) : oldest - 1
}

export async function newestPosition(log: EventLog): Promise<number> {
  const { events } = await log.list({}, { limit: 1, cursor: null })
  return events[0]?.seq ?? 0
}

export interface ExportOptions {
  readonly payloads?: boolean
  readonly note?: string
}

/** Prints one line of JSON for each event, newest first. Each read of a payload is recorded in the audit. */
export async function exportEvents(
  output: Output,
  log: EventLog,
  filter: EventFilter,
  { payloads = false, note = 'export' }: ExportOptions,
): Promise<void> {
  let cursor: string | null = null
  let exported = 0
  do {
    const page: Awaited<ReturnType<EventLog['list']>> = await log.list(filter, { limit: PAGE, cursor })
    if (!payloads) for (const event of page.events) await write(`${jsonText(event)}\n`)
    for (let at = 0; payloads && at < page.events.length; at += PAYLOADS) {
      const events = page.events.slice(at, at + PAYLOADS)
      const found = await log.payloads(events.map(eventKey), note)
      for (const [i, event] of events.entries())
        await write(`${jsonText({ ...event, payload: shown(found[i]!) })}\n`)
    }
    exported += page.events.length
    output.progress(`${exported} events`)
    cursor = page.next
  } while (cursor !== null)
  output.progress(null)
  output.say(`${counted(exported, 'event', 'events')} exported from ${log.name}`)
}

function shown(payload: PayloadView | null) {
  return payload && { headers: payload.headers, body: Buffer.from(payload.body).toString('base64') }
}

/** Waits for a slow reader: an export can be larger than memory. */
async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}
