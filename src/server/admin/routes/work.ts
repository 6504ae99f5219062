/** The worker API: a worker in any language works under the leases that the handlers of this process use. */
import type { z } from 'zod'
import { invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import {
  type ClaimedEvent,
  type ClaimOptions,
  type EventKey,
  followedSource,
  limits,
  named,
  type Outcome,
  type Reference,
  type Settlement,
} from '../../../model.js'
import { unknownSource } from '../../../nearest.js'
import { idempotencyKey } from '../../../processing/effect.js'
import { textOf } from '../../../processing/error-text.js'
import { retryDelayMs } from '../../../processing/failure.js'
import { PausedTypes } from '../../../processing/paused-types.js'
import { eventBytes } from '../../../processing/payload.js'
import { addReference } from '../../../processing/refer.js'
import { usedUp } from '../../../processing/result.js'
import type { Store } from '../../../store.js'
import { audit, inspectOf } from '../capabilities.js'
import { LARGE_BODY_BYTES, LIST_BODY_BYTES, type Route, route } from '../route.js'
import { json } from '../shapes.js'
import type { Wakes } from '../wakes.js'
import {
  claimBody,
  claimShape,
  extendBody,
  leaseText,
  readLease,
  releaseBody,
  settleBody,
  settledShape,
} from '../work-shapes.js'

type Settle = z.output<typeof settleBody>['settlements'][number]

const POLL_MS = 1_000
/** A claim that finds only paused events is made again without their types. */
const MAX_TRIES = 10
/** Bodies in one answer. A larger body is claimed alone. */
const CLAIM_BYTES = 8 * 1024 * 1024

export function workRoutes(inbox: WholeInbox, wakes: Wakes): Route[] {
  const can = 'work' as const
  const method = 'POST' as const
  const pausedTypes = new PausedTypes(inbox.paused)

  /** Polls as well: retries and expired leases become due without a notification. */
  async function claim(body: z.output<typeof claimBody>, signal: AbortSignal): Promise<ClaimedEvent[]> {
    const store = await inbox.store()
    const { worker, limit, leaseMs } = body
    const sources = await sourcesFor(inbox, store, body.sources)
    if (sources.length === 0) return []
    // A consumer has only events of its own types.
    await inbox.attempts.workerAsked(sources.filter((source) => inbox.sources.has(source)))
    const until = performance.now() + body.waitMs
    for (;;) {
      const count = wakes.count()
      const claimed = await claimUnpaused(store, { worker, limit, leaseMs, sources })
      const leftMs = until - performance.now()
      if (claimed.length > 0 || leftMs <= 0) return claimed
      if (!(await wakes.wait(count, Math.min(leftMs, POLL_MS), signal))) return []
    }
  }

  async function claimUnpaused(store: Store, options: ClaimOptions): Promise<ClaimedEvent[]> {
    const { paused } = inbox
    await paused.refreshOld()
    const sources = options.sources?.filter((source) => !paused.ofSource(source)) ?? []
    if (sources.length === 0) return []
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const except = pausedTypes.known()
      const claimed = await store.claim({ ...options, sources, ...(except.length > 0 && { except }) })
      const held = claimed.filter((event) => paused.of(event))
      for (const { events, delayMs } of pausedTypes.note(held))
        if (events.length > 0)
          await store.release(
            events.map(({ lease }) => lease),
            delayMs,
          )
      const free = claimed.filter((event) => !held.includes(event))
      if (free.length > 0 || held.length === 0) return free
    }
    return []
  }

  return [
    route({
      method,
      path: '/api/work/claim',
      id: 'claimWork',
      summary: 'Claim due events under a lease, oldest due first',
      can,
      body: claimBody,
      bodyBytes: LIST_BODY_BYTES,
      answers: { 200: json('The claimed events; empty when none is due.', claimShape) },
      async run({ access, request, body }) {
        const [claimed, rest] = withinBytes(ownBytes(inbox, await claim(body, request.signal)))
        if (claimed.length === 0) return { events: [] }
        const store = await inbox.store()
        if (rest.length > 0) await store.release(rest.map(({ lease }) => lease))
        try {
          await auditClaim(inbox, access!.actor, body.worker, claimed)
          if (request.signal.aborted)
            throw invalid('The claim', 'was cancelled because the worker closed the connection')
        } catch (error) {
          // No worker gets these events, so they are due again now, before their leases expire.
          await store.release(claimed.map(({ lease }) => lease)).catch(() => {})
          throw error
        }
        const events = await handleable(inbox, store, claimed)
        return { events: events.map((event) => claimedView(inbox, event, body.leaseMs)) }
      },
    }),
    route({
      method,
      path: '/api/work/extend',
      id: 'extendWork',
      summary: 'Extend leases, counted from now',
      can,
      body: extendBody,
      bodyBytes: LIST_BODY_BYTES,
      answers: { 200: json('The result for each lease, in the order of the request.', settledShape) },
      run: async ({ body }) => {
        const store = await inbox.store()
        const extended = await store.extend(leasesOf(body.leases), body.leaseMs)
        await inbox.attempts.workerAsked(sourcesOf(inbox, body.leases, extended))
        return leaseResults(body.leases, extended)
      },
    }),
    route({
      method,
      path: '/api/work/settle',
      id: 'settleWork',
      summary: 'Write the outcomes of attempts',
      can,
      body: settleBody,
      bodyBytes: LARGE_BODY_BYTES,
      answers: { 200: json('The result for each lease, in the order of the request.', settledShape) },
      run: async ({ body: { settlements } }) => {
        const store = await inbox.store()
        const redactedOnes: Settlement[] = []
        // One after the other: each of them may read a payload.
        for (const { lease: text, outcome: given, durationMs, references } of settlements) {
          const { lease, event } = readLease(text)
          const outcome = await redacted(inbox, event, given)
          redactedOnes.push({ lease, outcome, durationMs, references: kept(inbox, event, references) })
        }
        const written = await store.settle(redactedOnes)
        return leaseResults(
          settlements.map(({ lease }) => lease),
          written,
        )
      },
    }),
    route({
      method,
      path: '/api/work/release',
      id: 'releaseWork',
      summary: 'Release events that were not started; this does not use up an attempt',
      can,
      body: releaseBody,
      bodyBytes: LIST_BODY_BYTES,
      answers: { 200: json('The result for each lease, in the order of the request.', settledShape) },
      run: async ({ body }) => {
        const store = await inbox.store()
        return leaseResults(body.leases, await store.release(leasesOf(body.leases), body.delayMs))
      },
    }),
  ]
}

/** Requests handle the events of inline sources. A worker gets the events of consumers that it names. */
async function sourcesFor(
  inbox: WholeInbox,
  store: Store,
  asked: readonly string[] | undefined,
): Promise<string[]> {
  const background = [...inbox.sources]
    .filter(([, source]) => source.mode === 'background')
    .map(([name]) => name)
  if (asked === undefined) return background
  const consumers = asked.some((source) => followedSource(source) !== source)
    ? await store.consumers?.list()
    : []
  const named = (consumers ?? [])
    .map(({ source }) => source)
    .filter((source) => followedSource(source) !== source)
  const known = [...background, ...named]
  const missing = asked.find((source) => !known.includes(source))
  if (missing !== undefined) throw unknownSource(missing, known)
  return [...asked]
}

/**
 * Each event gets its own part of the delivery: with whole deliveries, the answer would grow with the square of their
 * events.
 */
function ownBytes(inbox: WholeInbox, claimed: readonly ClaimedEvent[]): ClaimedEvent[] {
  return claimed.map((event) => {
    const source = inbox.sources.get(followedSource(event.source))
    if (event.body === null || source === undefined) return event
    return { ...event, body: eventBytes(source, event, event.body) }
  })
}

function withinBytes(events: readonly ClaimedEvent[]): [ClaimedEvent[], ClaimedEvent[]] {
  let bytes = 0
  const end = events.findIndex(({ body }, i) => {
    bytes += body?.byteLength ?? 0
    return i > 0 && bytes > CLAIM_BYTES
  })
  return end < 0 ? [[...events], []] : [events.slice(0, end), events.slice(end)]
}

/** A claim hands out payloads: the audit gets a read of each event. */
function auditClaim(
  inbox: WholeInbox,
  actor: string,
  worker: string,
  claimed: readonly ClaimedEvent[],
): Promise<void> {
  return audit(
    inbox,
    ...claimed.map((key) => ({ actor, verb: 'claim', ...named(key), note: `worker ${worker}` })),
  )
}

/**
 * Settles events that no worker can handle: the payload cannot be decrypted, or the attempts are used up because each
 * worker died.
 */
async function handleable(
  inbox: WholeInbox,
  store: Store,
  claimed: readonly ClaimedEvent[],
): Promise<ClaimedEvent[]> {
  const checked = claimed.map((event) => ({ event, outcome: permanentFailure(inbox, event) }))
  const settlements = checked.flatMap(({ event: { lease }, outcome }) =>
    outcome === null ? [] : [{ lease, outcome, durationMs: 0 }],
  )
  if (settlements.length > 0) await store.settle(settlements)
  return checked.filter(({ outcome }) => outcome === null).map(({ event }) => event)
}

function permanentFailure(
  inbox: WholeInbox,
  { source, type, tries, unreadable }: ClaimedEvent,
): Outcome | null {
  const retry = inbox.attempts.retryOf(source, type)
  const over = usedUp(retry, tries)
  if (over !== null || unreadable === undefined) return over
  return { kind: 'failed', error: textOf(unreadable), retryInMs: retryDelayMs(retry, tries) }
}

function claimedView(inbox: WholeInbox, event: ClaimedEvent, leaseMs: number) {
  const { source, id, type, reference, receivedAt, attempt, tries, run, part, headers, body } = event
  return {
    lease: leaseText(event),
    leaseMs,
    source,
    id,
    type,
    reference,
    receivedAt,
    attempt,
    tries,
    run,
    part,
    idempotencyKey: idempotencyKey(event, 'worker'),
    retryInMs: retryDelayMs(inbox.attempts.retryOf(source, type), tries),
    headers,
    body: body === null ? null : Buffer.from(body).toString('base64'),
  }
}

function leasesOf(texts: readonly string[]) {
  return texts.map((text) => readLease(text).lease)
}

/** A worker that extends live leases is still there. */
function sourcesOf(inbox: WholeInbox, texts: readonly string[], live: readonly boolean[]): string[] {
  const found = texts.flatMap((text, i) => (live[i] ? (readLease(text).event?.source ?? []) : []))
  return [...new Set(found)].filter((source) => inbox.sources.has(source))
}

/** Redacts the text like that of a handler. Values at paths are known only while the payload is stored. */
async function redacted(inbox: WholeInbox, key: EventKey | null, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind === 'succeeded') return outcome
  const { redact } = inbox.attempts
  const event = await asClaimed(inbox, key)
  if (outcome.kind === 'failed') return { ...outcome, error: redact.error(outcome.error, event) }
  return { ...outcome, reason: redact.reason(outcome.reason, event) }
}

/** As `ctx.refer` keeps them. */
function kept(inbox: WholeInbox, key: EventKey | null, given: Settle['references']): Reference[] {
  const references: Reference[] = []
  const added = given.map(({ label, value }) => addReference(references, label, value))
  if (added.includes(false))
    inbox.log.warn(
      { step: 'settle', ...(key && named(key)) },
      `settle: only the first ${limits.references} references are kept`,
    )
  return references
}

async function asClaimed(inbox: WholeInbox, key: EventKey | null): Promise<ClaimedEvent> {
  const inspect = await inspectOf(inbox)
  const [event, payload] = key
    ? await Promise.all([inbox.events.get(key), inspect.payload(key)])
    : [null, null]
  return {
    source: key?.source ?? '',
    id: key?.id ?? '',
    lease: { seq: 0, token: '' },
    type: event?.type ?? '',
    reference: event?.reference ?? null,
    receivedAt: event?.receivedAt ?? 0,
    attempt: 1,
    tries: 1,
    run: 1,
    losses: 0,
    part: payload?.part ?? 0,
    contentHash: payload?.contentHash ?? null,
    headers: payload?.headers ?? {},
    body: payload?.body ?? null,
  }
}

function leaseResults(leases: readonly string[], done: readonly boolean[]) {
  return {
    results: leases.map((lease, i) =>
      done[i]
        ? { lease, done: true, status: 200, code: null }
        : { lease, done: false, status: 409, code: 'LEASE_LOST' },
    ),
  }
}
