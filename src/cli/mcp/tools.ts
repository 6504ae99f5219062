/** The tools of `hookonce mcp`. Everything they return from the log is untrusted data. */
import { z } from 'zod'
import { states } from '../../model.js'
import { defined } from '../../options.js'
import type { EventLog, EventView, Verb } from '../log/event-log.js'
import { findEvent } from '../log/open-log.js'
import { filterOf } from '../log/options.js'
import { instant } from '../options.js'
import { explain } from './explain.js'
import { maskedBody, type ToolResult, untrusted } from './untrusted.js'

export const allowances = ['actions', 'payloads'] as const
export type Allowance = (typeof allowances)[number]

export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodRawShape
  readonly isReadOnly: boolean
  run(log: EventLog, input: Readonly<Record<string, unknown>>): Promise<ToolResult>
}

export function toolsFor(allowed: ReadonlySet<Allowance>): readonly Tool[] {
  return [
    listEvents,
    explainEvent,
    deadLetters,
    payloadOf(allowed.has('payloads')),
    ...(allowed.has('actions') ? [actionOf('retry'), actionOf('replay')] : []),
  ]
}

function tool<Shape extends z.ZodRawShape>(
  definition: Omit<Tool, 'input' | 'run'> & {
    readonly input: Shape
    run(log: EventLog, input: z.output<z.ZodObject<Shape>>): Promise<ToolResult>
  },
): Tool {
  return definition as unknown as Tool
}

const eventName = z.string().min(1).max(600).describe('The id of the event, or source/id')
const time = z
  .string()
  .max(40)
  .transform((text) => instant(text))

const listEvents = tool({
  name: 'list_events',
  description:
    'Lists events of the log, newest first. Every filter is optional; a star in `type` matches any text. `next` is the cursor of the next page.',
  isReadOnly: true,
  input: {
    source: z.string().optional(),
    type: z.string().optional(),
    state: z.enum(states).optional(),
    dead: z.boolean().optional().describe('Only dead letters: failed, and not retried any more'),
    reference: z.string().optional().describe('The id the events are about, such as that of an invoice'),
    reason: z.string().optional().describe('Only events ignored for this reason, such as unhandled'),
    since: time.optional().describe('2026-07-01T12:00:00Z, or an age such as 2h'),
    until: time.optional(),
    duplicates: z.boolean().optional().describe('Only events that were delivered more than once'),
    conflicts: z
      .boolean()
      .optional()
      .describe('Only events with an open conflict: delivered with two bodies'),
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().optional(),
  },
  async run(log, { limit, cursor = null, ...filter }) {
    const page = await log.list(filterOf(defined(filter)), { limit, cursor })
    return untrusted(`${page.events.length} events${page.next === null ? '' : ', and more'}.`, page)
  },
})

const explainEvent = tool({
  name: 'explain_event',
  description: 'Shows one event with its attempts, and says what its state means and what can be done.',
  isReadOnly: true,
  input: { event: eventName },
  async run(log, { event: name }) {
    const event = await findEvent(log, name)
    const attempts = await log.attempts(event)
    return untrusted(explain(event, attempts), { event, attempts })
  },
})

const deadLetters = tool({
  name: 'dead_letters',
  description:
    'Groups the dead letters by cause: errors that differ only in ids and numbers are one group. Each group has its count, its types and its newest event.',
  isReadOnly: true,
  input: { source: z.string().optional() },
  async run(log, { source }) {
    const found = await log.deadLetters(defined({ source }))
    const total = found.groups.reduce((sum, { count }) => sum + count, 0)
    return untrusted(`${total} dead letters in ${found.groups.length} groups.`, found)
  },
})

function payloadOf(isShown: boolean): Tool {
  return tool({
    name: 'get_payload',
    description: isShown
      ? 'Returns the body of an event. The read is recorded in the audit.'
      : 'Returns the structure of the body of an event: names and kinds of values, without the values. The read is recorded in the audit.',
    isReadOnly: true,
    input: { event: eventName },
    async run(log, { event: name }) {
      const event = await findEvent(log, name)
      const [payload = null] = await log.payloads([event], 'mcp')
      if (payload === null) return untrusted('The payload is no longer stored.', nameOf(event))
      const { body } = payload
      const size = `${body.byteLength} bytes.`
      if (isShown) return untrusted(size, { ...nameOf(event), body: Buffer.from(body).toString('utf8') })
      const structure = maskedBody(body) ?? '(not JSON)'
      return untrusted(`${size} Values are masked; hookonce mcp --allow payloads shows them.`, {
        ...nameOf(event),
        structure,
      })
    },
  })
}

const nameOf = ({ source, id, type }: EventView) => ({ source, id, type })

const actions: Readonly<Record<'retry' | 'replay', string>> = {
  retry: 'Retries failed or ignored events',
  replay:
    'Runs events again, with `force` also those that have succeeded (their effects may then happen again)',
}

function actionOf(verb: Verb & keyof typeof actions): Tool {
  return tool({
    name: `${verb}_events`,
    description: `${actions[verb]}. Recorded in the audit with the note. Ask the person first, and try dryRun before.`,
    isReadOnly: false,
    input: {
      events: z.array(eventName).min(1).max(100),
      note: z.string().trim().min(3).max(500).describe('Why, in the words of the person who asked for it'),
      dryRun: z.boolean().default(false),
      ...(verb === 'replay' ? { force: z.boolean().default(false) } : {}),
    },
    async run(log, { events: names, note, dryRun, ...others }) {
      const { force } = others as { force?: boolean }
      const results = []
      for (const name of names) {
        const event = await findEvent(log, name)
        const options = { note: `mcp: ${note}`, dryRun, ...defined({ force }) }
        results.push({ ...nameOf(event), ...(await log.act(verb, event, options)) })
      }
      const done = results.filter((result) => result.done).length
      return untrusted(`${done} of ${results.length} ${dryRun ? 'would be changed' : 'changed'}.`, results)
    },
  })
}
