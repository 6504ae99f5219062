/** What the worker API takes and gives. */
import { z } from 'zod'
import { limits } from '../../model.js'
import { at, count } from './shapes.js'

const lease = z.string().min(3).max(1_000).describe('As it came with the event')
const leases = z.array(lease).min(1).max(100)
const leaseMs = z
  .int()
  .min(1_000)
  .max(86_400_000)
  .default(30_000)
  .describe('After so long without a word the event is due again')

export const claimBody = z.strictObject({
  worker: z.string().min(1).max(255).describe('Shown in the attempts and the audit'),
  sources: z.array(z.string().min(1)).min(1).max(100).optional().describe('Only these; all when left out'),
  limit: z.int().min(1).max(100).default(1),
  leaseMs,
  waitMs: z.int().min(0).max(30_000).default(0).describe('Wait so long for something to become due'),
})

export const claimShape = z.strictObject({
  events: z.array(
    z.strictObject({
      lease,
      leaseMs: count,
      source: z.string(),
      id: z.string(),
      type: z.string(),
      reference: z.string().nullable(),
      receivedAt: at,
      attempt: count.describe('Over all runs, from 1'),
      tries: count.describe('Since the last new start, from 1'),
      run: count,
      part: count.describe('Which of the events of its delivery this is'),
      idempotencyKey: z.string().describe('The same in every attempt: give it to whom you call'),
      retryInMs: count.nullable().describe('What to settle a failure with; null: this was the last attempt'),
      headers: z.record(z.string(), z.string()),
      body: z
        .string()
        .meta({ contentEncoding: 'base64' })
        .nullable()
        .describe('The bytes as received; null when they have been removed'),
    }),
  ),
})

export const extendBody = z.strictObject({ leases, leaseMs })
export const releaseBody = z.strictObject({ leases, delayMs: z.int().min(0).max(limits.delayMs).default(0) })

const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('succeeded') }),
  z.strictObject({ kind: z.literal('ignored'), reason: z.string().min(1).max(1_000) }),
  z.strictObject({
    kind: z.literal('failed'),
    error: z.string().max(8_192),
    retryInMs: z.number().min(0).max(limits.delayMs).nullable().describe('Null: a dead letter'),
  }),
])

export const settleBody = z.strictObject({
  settlements: z
    .array(z.strictObject({ lease, outcome, durationMs: z.number().min(0).max(86_400_000).default(0) }))
    .min(1)
    .max(100),
})

export const settledShape = z.strictObject({
  results: z.array(
    z.strictObject({
      lease: z.string(),
      done: z.boolean(),
      status: z.union([z.literal(200), z.literal(409)]),
      code: z.literal('LEASE_LOST').nullable(),
    }),
  ),
})
