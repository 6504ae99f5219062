import { z } from 'zod'
import { states } from '../../model.js'
import { permissions, roles } from './options.js'
import type { AnswerShape } from './route.js'

export function json(about: string, content: z.ZodType): AnswerShape {
  return { about, content }
}

export const at = z.iso.datetime()
export const count = z.int().min(0)
export const state = z.enum(states)
const text = z.string()

export const keyParams = { source: text.min(1), id: text.min(1) }
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

export const eventShape = z.strictObject({
  seq: count,
  source: text,
  id: text,
  type: text,
  reference: text.nullable(),
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
      hash: text,
      decidedAt: at.nullable().describe('Null while the conflict is open: nobody has decided about it'),
    })
    .nullable(),
  contentHash: text.nullable(),
  sameAs: text
    .nullable()
    .describe(
      'Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id',
    ),
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

export const attemptShape = z.strictObject({
  attempt: count,
  run: count,
  worker: text,
  startedAt: at,
  finishedAt: at,
  outcome: z.enum(['succeeded', 'ignored', 'failed', 'lost']),
  detail: text.nullable().describe('The error or the reason; null for viewers'),
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
  readOnly: z.boolean(),
  permissions: z.array(z.enum(permissions)).describe('What this role may do, also on a read-only server'),
  version: text.nullable().describe('The version of hookonce that answers'),
  startedAt: at.describe('When the process that answers was started'),
})

export const openapiShape = z.looseObject({ openapi: z.literal('3.1.0') })
