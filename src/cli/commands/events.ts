import type { Command } from 'commander'
import { jsonText } from '../../log.js'
import type { EventFilter } from '../../model.js'
import { defined } from '../../options.js'
import { addCommand, addGroup, interruptible } from '../command.js'
import { eventDetail, eventLine, eventTable, payloadText } from '../event-text.js'
import { Failure } from '../failure.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { findEvent, newestPosition, openLog, pagesOf, positionBefore } from '../log/open-log.js'
import { filterOf, filterOptions, logOptions, matcher } from '../log/options.js'
import { sayWhyNone } from '../log/why-none.js'
import { count, flag, noteOption, type OptionsOf, parsed, text } from '../options.js'
import { counted, type Output } from '../output.js'
import { printable } from '../terminal-text.js'

const listOptions = {
  limit: { ...parsed('<n>', 'the number of events', count), initial: 20 },
  cursor: text('<cursor>', 'continue after this position, as printed by the page before'),
  ...filterOptions,
  ...logOptions,
}
const showOptions = {
  payload: flag('also show its headers and body; this is recorded in the audit'),
  raw: flag('print only its body, byte for byte'),
  ...noteOption,
  ...logOptions,
}
const exportOptions = {
  payloads: flag('include headers and body (base64); each read is recorded in the audit'),
  ...noteOption,
  ...filterOptions,
  ...logOptions,
}

export function add(program: Command): void {
  const events = addGroup(program, 'events')
  addCommand(events, 'list', {
    summary: 'list the latest events',
    examples: [
      'hookonce events list',
      'hookonce events list --source stripe --dead --since 24h',
      'hookonce events list --server https://hooks.example.com --json',
    ],
    options: listOptions,
    async run({ output, options }) {
      const filter = filterOf(options)
      await using log = await openLog(options)
      await list(output, log, filter, { limit: options.limit, cursor: options.cursor ?? null })
    },
  })
  addCommand(events, 'show <id>', {
    summary: 'show one event with its attempts',
    description:
      'Shows one event and its attempts. Name it by its id, or by source/id when several sources have that id.',
    examples: [
      'hookonce events show evt_1PgafmB7WZ01zgkW',
      'hookonce events show stripe/evt_1PgafmB7WZ01zgkW --payload --note "ticket 4711"',
    ],
    options: showOptions,
    async run({ output, options }, id: string) {
      await using log = await openLog(options)
      await show(output, log, id, options)
    },
  })
  addCommand(events, 'tail', {
    summary: 'print events as they are recorded',
    examples: ['hookonce events tail --source stripe', 'hookonce events tail --since 1h --json'],
    options: { ...filterOptions, ...logOptions },
    async run({ output, options }) {
      const filter = filterOf(options)
      await using log = await openLog(options)
      await tail(output, log, filter)
    },
  })
  addCommand(events, 'export', {
    summary: 'export events as JSON lines, for other programs',
    examples: [
      'hookonce events export --since 30d > events.ndjson',
      'hookonce events export --dead --payloads --note "replay in staging" > dead.ndjson',
    ],
    options: exportOptions,
    async run({ output, options }) {
      await using log = await openLog(options)
      await exportEvents(output, log, filterOf(options), options)
    },
  })
}

const PAGE = 500
/** Payloads that are held in memory together; each may have a megabyte. */
const PAYLOADS = 20
/** A store stops a long search early. After this many continuations the command prints how to continue. */
const MAX_CUTS = 50

async function list(
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
  if (events.length === 0 && next === null && page.cursor === null) await sayWhyNone(output, log, filter)
  if (cut && !output.json)
    output.say(`The search stopped at its limit before the end of the log. Continue with --cursor ${next}`)
  else if (next !== null && !output.json) output.say(`There are more events: --cursor ${next}`)
}

async function show(
  output: Output,
  log: EventLog,
  text: string,
  options: OptionsOf<typeof showOptions>,
): Promise<void> {
  const event = await findEvent(log, text)
  const withPayload = options.payload || options.raw
  const [payload = null] = withPayload ? await log.payloads([event], options.note ?? '') : []
  if (options.raw) {
    if (payload === null) throw removed(event)
    writeRaw(payload.body)
    return
  }
  const attempts = await log.attempts(event)
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

async function tail(output: Output, log: EventLog, filter: EventFilter): Promise<void> {
  const { signal } = interruptible()
  const { source, from } = filter
  const matches = matcher(filter)
  const after = await (from === undefined ? newestPosition(log) : positionBefore(log, from))
  output.say(`following ${log.name}; stop with Ctrl-C`)
  for await (const { events, gap } of log.follow({ after, signal, ...defined({ source }) })) {
    if (gap) output.say('retention has deleted some events before they could be shown')
    for (const event of events) if (matches(event)) output.result(event, (paint) => eventLine(event, paint))
  }
}

async function exportEvents(
  output: Output,
  log: EventLog,
  filter: EventFilter,
  { payloads = false, note = 'export' }: OptionsOf<typeof exportOptions>,
): Promise<void> {
  let exported = 0
  for await (const page of pagesOf(log, filter)) {
    if (!payloads) for (const event of page) await write(`${jsonText(event)}\n`)
    for (let at = 0; payloads && at < page.length; at += PAYLOADS) {
      const events = page.slice(at, at + PAYLOADS)
      const found = await log.payloads(events, note)
      for (const [i, event] of events.entries())
        await write(`${jsonText({ ...event, payload: shown(found[i]!) })}\n`)
    }
    exported += page.length
    output.progress(`${exported} events`)
  }
  output.progress(null)
  output.say(`${counted(exported, 'event', 'events')} exported from ${log.name}`)
  if (exported === 0) await sayWhyNone(output, log, filter)
}

function shown(payload: PayloadView | null) {
  return payload && { headers: payload.headers, body: Buffer.from(payload.body).toString('base64') }
}

/** Waits for a slow reader: an export can be larger than memory. */
async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}
