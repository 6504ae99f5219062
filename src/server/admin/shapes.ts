import { z } from 'zod'
import { origins, states } from '../../model.js'
import { permissions, roles } from './options.js'
import type { AnswerShape } from './route.js'

export function json(about: string, content: z.ZodType): AnswerShape {
  return { about, content }
}

export const at = z.iso.datetime()
export const count = z.int().min(0)
export const state = z.enum(states)
const text = z.string()

export const keyParams = {
  source: text.min(1).describe('The name of the source'),
  id: text.min(1).describe('The event id'),
}
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).default(50).describe('Maximum number of entries in a page'),
  cursor: text.optional().describe('`next` of the previous page'),
}
export const noteFields = { note: text.max(1_000).optional().describe('A note for the audit') }

export const statsShape = z.strictObject({
  sources: z.array(
    z.strictObject({
      source: text,
      recorded: count,
      pending: count,
      processing: count,
      retrying: count,
      succeeded: count,
      ignored: count,
      dead: count,
      oldestDueAt: at.nullable(),
      estimated: z
        .boolean()
        .describe(
          'True when the backlog is too large to count: pending, retrying and succeeded are estimates',
        ),
    }),
  ),
})

export const spoolShape = z
  .strictObject({
    depth: count.describe('Number of deliveries that wait to be recorded'),
    bytes: count,
    maxBytes: count,
    setAside: count.describe('Number of deliveries that could not be recorded and are retried'),
    oldestAt: at.nullable(),
    storeAway: z.boolean(),
    draining: z.boolean(),
  })
  .describe('The spool of the process that answers; null when it has none')

const held = z.strictObject({ source: text, pattern: text, count, limit: count.nullable() })
const why = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), ...shape })
export const waitingShape = z
  .discriminatedUnion('kind', [
    why('review', { sameAs: text.nullable() }).describe('Its signed content is known: a person decides'),
    why('running', { worker: text, sinceAt: at }).describe('A worker handles it'),
    why('paused', { source: text, type: text.nullable(), actor: text, sinceAt: at }),
    why('behind', { id: text, dueAt: at.nullable() }).describe(
      'An earlier event of its reference is not finished; `dueAt` null: it is being handled',
    ),
    why('retry', { dueAt: at }).describe('Its last attempt failed'),
    why('postponed', { dueAt: at }).describe('Its handler postponed it, or it was released'),
    why('circuit', { dueAt: at }).describe('Its destination fails'),
    why('places', { takenBy: z.array(held) }).describe(
      'All places of the processes with its handler are taken',
    ),
    why('limit', { pattern: text, dueAt: at.nullable() }).describe(
      'The limit of its handler allows no further call yet; `dueAt` null: until one of them ends',
    ),
    why('no_worker', {}).describe('No live process runs handlers'),
    why('no_handler', {}).describe('No live process has a handler for it'),
    why('due', {}).describe('A worker takes it in a moment'),
  ])
  .describe('Why the event is not finished')

export const eventShape = z.strictObject({
  seq: count,
  source: text,
  id: text,
  type: text,
  reference: text.nullable(),
  references: z
    .array(z.strictObject({ label: text, value: text }))
    .describe('What the event is about, by label. The first is `reference`, if that has a label'),
  state,
  dead: z.boolean().describe('True for a dead letter: failed, without a next attempt'),
  reason: text
    .nullable()
    .describe(
      'The reason why the event is ignored, or its last error. Viewers see only reasons that hookonce itself gives',
    ),
  receivedAt: at,
  processedAt: at.nullable(),
  attempts: count,
  run: count,
  nextAttemptAt: at.nullable(),
  deliveries: count,
  conflicts: count,
  lastDeliveryAt: at,
  lastConflict: z
    .strictObject({
      at,
      hash: text.describe('Names this content in an action, as `conflict`'),
      decidedAt: at.nullable().describe('Null while the conflict is open: nobody has decided about it'),
    })
    .nullable(),
  contentHash: text.nullable(),
  sameAs: text
    .nullable()
    .describe(
      'Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id',
    ),
  origin: z
    .enum(origins)
    .describe(
      '`delivery`: with a signature. `backfill`: reconcile read it from the API of the sender. `import`: from another program',
    ),
  waiting: waitingShape.nullable().describe('Null when it waits for nothing'),
  payload: z
    .enum(['kept', 'removed', 'erased'])
    .describe('`removed`: by retention, an archive may contain it. `erased`: permanently'),
})

const next = text.nullable().describe('The `cursor` of the next page; null on the last page')
const cut = z
  .boolean()
  .describe(
    'True when the search stopped at its limit before the page was full. More matches may follow at `next`',
  )
export const eventPageShape = z.strictObject({ events: z.array(eventShape), next, cut })

export const pauseShape = z.strictObject({
  source: text.describe('The name of a source, or of a consumer such as `stripe/mail`'),
  type: text.nullable().describe('A type or a glob; null: all events of the source'),
  actor: text.describe('Who paused it'),
  note: text.nullable().describe('Null for viewers'),
  at,
})

export const attemptShape = z.strictObject({
  attempt: count,
  run: count,
  worker: text,
  startedAt: at,
  finishedAt: at,
  outcome: z.enum(['succeeded', 'ignored', 'failed', 'lost']),
  detail: text.nullable().describe('The error or the reason; null for viewers'),
  place: text.nullable().describe('The line of code that threw the error, if it is known; null for viewers'),
})
export const attemptsShape = z.strictObject({ attempts: z.array(attemptShape) })

export const auditShape = z.strictObject({
  id: count,
  at,
  actor: text,
  verb: text,
  source: text.nullable(),
  eventId: text.nullable(),
  note: text,
})
export const auditPageShape = z.strictObject({ audits: z.array(auditShape), next })

export const payloadShape = z.strictObject({
  source: text,
  id: text,
  part: count.describe('Position of the event in its delivery, from 0'),
  receivedAt: at,
  headers: z.record(text, text),
  body: z.string().meta({ contentEncoding: 'base64' }).describe('The bytes as received'),
})

export const payloadAndReplyShape = payloadShape.extend({
  reply: z
    .strictObject({
      httpStatus: count,
      headers: z.record(text, text),
      body: z.string().meta({ contentEncoding: 'base64' }),
    })
    .nullable()
    .describe(
      'What the handler of an inline source has returned to be sent (`reply`), the latest one; null when it returned none',
    ),
})

export const actionResultShape = z.strictObject({
  done: z.literal(true),
  dryRun: z.boolean(),
  from: state,
  to: state,
})

const ms = z.number().nullable()
export const latencyShape = z
  .strictObject({ count, p50Ms: ms, p95Ms: ms, p99Ms: ms })
  .describe('Null without a value')

export const actionShape = z.strictObject({
  id: text,
  verb: z.enum(['retry', 'replay', 'ignore']),
  state: z.enum(['running', 'done', 'cancelled', 'failed']),
  dryRun: z.boolean(),
  actor: text,
  note: text,
  startedAt: at,
  endedAt: at.nullable(),
  matched: count,
  done: count,
  refused: z.record(text, count).describe('Number of events that were not changed, by error code'),
  problem: text.nullable().describe('The code of the error that ended the action'),
})

export const sessionShape = z.strictObject({
  actor: text,
  role: z.enum(roles),
  by: z.enum(['token', 'session', 'application']),
  expiresAt: at.nullable(),
  permissions: z.array(z.enum(permissions)).describe('What this role may do'),
  version: text.nullable().describe('The version of hookonce that answers'),
  startedAt: at.describe('When the process that answers was started'),
})

export const openapiShape = z.looseObject({ openapi: z.literal('3.1.0') })
