import { z } from 'zod'
import { type ClaimedEvent, type EventKey, type Lease, limits } from '../../model.js'
import { labelProblem } from '../../references.js'
import { at, count } from './shapes.js'

const lease = z.string().min(3).max(1_000).describe('The lease of the event, as the claim returned it')
const leases = z.array(lease).min(1).max(100).describe('Leases of claimed events')
const leaseMs = z
  .int()
  .min(1_000)
  .max(86_400_000)
  .default(30_000)
  .describe('The event is due again after this time without extend, settle or release')

export const claimBody = z.strictObject({
  worker: z.string().min(1).max(255).describe('Shown in the attempts and the audit'),
  sources: z.array(z.string().min(1)).min(1).max(100).optional().describe('Default: all sources'),
  limit: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe('The most events; fewer when their bodies have more than 8 MiB together'),
  leaseMs,
  waitMs: z.int().min(0).max(30_000).default(0).describe('How long to wait for an event to become due'),
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
      attempt: count.describe('Counts from 1 over all runs'),
      tries: count.describe('Counts from 1 since the event was recorded, retried or replayed'),
      run: count,
      part: count.describe('Position of the event in its delivery, from 0'),
      idempotencyKey: z.string().describe('The same in every attempt: pass it to the services you call'),
      retryInMs: count
        .nullable()
        .describe('Use it as retryInMs of a failure; null: this was the last attempt'),
      headers: z.record(z.string(), z.string()),
      body: z
        .string()
        .meta({ contentEncoding: 'base64' })
        .nullable()
        .describe(
          'The bytes of the event as received, its own part of a delivery with several events; null when they have been removed',
        ),
    }),
  ),
})

export const extendBody = z.strictObject({ leases, leaseMs })
export const releaseBody = z.strictObject({
  leases,
  delayMs: z.int().min(0).max(limits.delayMs).default(0).describe('The events are due again after this time'),
})

const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('succeeded') }),
  z.strictObject({ kind: z.literal('ignored'), reason: z.string().min(1).max(1_000) }),
  z.strictObject({
    kind: z.literal('failed'),
    error: z.string().max(8_192),
    retryInMs: z.number().min(0).max(limits.delayMs).nullable().describe('Null: a dead letter'),
  }),
])

const valueProblem = 'must be text that is not empty, or a whole number below 2^53'
const reference = z.strictObject({
  label: z
    .string()
    .superRefine((label, { addIssue }) => {
      const problem = labelProblem(label)
      if (problem !== null) addIssue(problem)
    })
    .describe('Letters, digits, dashes and underscores, such as `payment`'),
  // A larger number has lost digits when it is read.
  value: z.union([z.string().min(1, valueProblem), z.int(valueProblem)], valueProblem),
})

export const settleBody = z.strictObject({
  settlements: z
    .array(
      z.strictObject({
        lease,
        outcome,
        durationMs: z.number().min(0).max(86_400_000).default(0),
        references: z
          .array(reference)
          .default([])
          .describe(
            `What the worker has learned that the event is about; the first ${limits.references} are kept. They are written together with the outcome, and not with a failure`,
          ),
      }),
    )
    .min(1)
    .max(100)
    .describe('An outcome for each lease'),
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

export interface NamedLease {
  readonly lease: Lease
  readonly event: EventKey | null
}

/** Opaque to the worker. The key of the event is in it, to redact the errors that the worker reports. */
export function leaseText({ lease, source, id }: ClaimedEvent): string {
  const name = Buffer.from(JSON.stringify([source, id])).toString('base64url')
  return `${lease.seq}.${lease.token}~${name}`
}

/** Treats a malformed text as an expired lease. */
export function readLease(text: string): NamedLease {
  const [seqAndToken = '', name = ''] = text.split('~', 2)
  const dot = seqAndToken.indexOf('.')
  const seq = Number(seqAndToken.slice(0, dot))
  const isKnown = Number.isSafeInteger(seq) && dot > 0
  const lease = isKnown ? { seq, token: seqAndToken.slice(dot + 1) } : { seq: 0, token: seqAndToken }
  return { lease, event: eventOf(name) }
}

function eventOf(name: string): EventKey | null {
  try {
    const [source, eventId] = JSON.parse(Buffer.from(name, 'base64url').toString('utf8'))
    return typeof source === 'string' && typeof eventId === 'string' ? { source, id: eventId } : null
  } catch {
    return null
  }
}
