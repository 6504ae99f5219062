/**
 * The harness that a test of a store provides, the form of a case, and building blocks of the cases: deliveries, steps of
 * an event, and comparisons.
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../errors.js'
import type {
  Action,
  ActionResult,
  ClaimedEvent,
  ClaimOptions,
  EventFilter,
  EventKey,
  EventRecord,
  Lease,
  NewDelivery,
  NewEvent,
  Outcome,
  RecordVerdict,
  Settlement,
  SourceStats,
} from '../../model.js'
import type { Attempt, Capability, CompleteStore, Payload, Store, StoreTransaction } from '../../store.js'

/**
 * One empty log, new for each case. The test that creates the harness also closes the stores it opened and deletes the
 * log after the case; a case may have closed some of them already.
 */
export interface StoreHarness<Tx = unknown> {
  /** A new store (its own connections) on the same log. Migrated, unless `migrate` is false. */
  open(options?: { readonly migrate?: boolean }): Promise<Store<Tx>>
  /** Moves the log's clock forward for every store on it. The clock may also run by itself. */
  advance(ms: number): Promise<void>
  /** Inserts a row into a user's table in the log's database, through the handler's `ctx.tx`. No unique key. */
  insertEffect(tx: Tx, value: string): Promise<void>
  /** How many such rows are committed, as seen from outside any transaction. */
  countEffects(value: string): Promise<number>
  /** False where a store is not notified of another's records (a log in memory). Left out = true. */
  readonly sharedBetweenProcesses?: boolean
}

export interface StoreCase {
  /** The section (`log` or a capability), then a sentence of behaviour. */
  readonly name: string
  readonly needs: readonly Capability[]
  /** Set by `storeContractFor` when a store cannot run this case. */
  readonly skip?: string
  /** Rejects with an AssertionError when the store does not behave so. */
  run(harness: StoreHarness): Promise<void>
}

/** The harness inside a case: the capabilities it calls are there, because the case is left out otherwise. */
export interface CaseHarness<Tx = unknown> extends StoreHarness<Tx> {
  open(options?: { readonly migrate?: boolean }): Promise<CompleteStore<Tx>>
}

export interface ContractCase {
  readonly name: string
  readonly needs?: readonly Capability[]
  run(harness: CaseHarness): Promise<void>
}

export const SOURCE = 'shop'
export const LEASE_MS = 60_000
export const LONG_AFTER_MS = 60_000
export const DAY_MS = 86_400_000

export const succeeded: Outcome = { kind: 'succeeded' }
export const ignored: Outcome = { kind: 'ignored', reason: 'not for us' }
export const dead: Outcome = { kind: 'failed', error: 'out of tries', retryInMs: null }
export const failedFor = (retryInMs: number): Outcome => ({ kind: 'failed', error: 'try later', retryInMs })

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function sha256(content: string | Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(content).digest())
}

export function key(eventId: string, source: string = SOURCE): EventKey {
  return { source, id: eventId }
}

export function event(eventId: string, more: Partial<NewEvent> = {}): NewEvent {
  return {
    id: eventId,
    type: 'order.paid',
    reference: null,
    contentHash: sha256(eventId),
    guardHash: null,
    ...more,
  }
}

export function delivery(
  events: string | NewEvent | readonly NewEvent[],
  more: Partial<NewDelivery> = {},
): NewDelivery {
  const list = typeof events === 'string' ? [event(events)] : 'id' in events ? [events] : events
  return {
    source: SOURCE,
    headers: { 'content-type': 'application/json' },
    body: bytes(JSON.stringify({ ids: list.map((e) => e.id) })),
    events: list,
    contentGuard: 'review',
    ...more,
  }
}

/** Several stores on one log, opened one after the other; concurrent migration has its own case. */
export async function openSeveral(harness: CaseHarness, count: number): Promise<CompleteStore[]> {
  const stores: CompleteStore[] = []
  for (const _ of range(count)) stores.push(await harness.open())
  return stores
}

export async function record(store: CompleteStore, ...deliveries: NewDelivery[]): Promise<RecordVerdict[]> {
  const verdicts = await store.record(deliveries)
  assert.equal(verdicts.length, deliveries.length, 'a list of verdicts per delivery')
  return verdicts.map((list) => {
    assert.equal(list.length, 1, 'a verdict per event')
    return list[0]!
  })
}

export async function recordEvent(
  store: CompleteStore,
  eventId: string,
  more: Partial<NewDelivery> = {},
): Promise<EventKey> {
  const [verdict] = await record(store, delivery(eventId, more))
  assert.equal(verdict?.status, 'recorded')
  return { source: more.source ?? SOURCE, id: eventId }
}

/** Records the event under a lease. */
export async function recordLeased(store: CompleteStore, { source, id }: EventKey): Promise<Lease> {
  const sent = delivery(id, { source })
  const token = randomUUID()
  const tokens = new Map([[sent.events[0]!, token]])
  const [[verdict]] = (await store.record([sent], { worker: 'receiver', leaseMs: LEASE_MS, tokens })) as [
    [RecordVerdict],
  ]
  assert.ok(verdict.status === 'recorded' && verdict.leasedAt !== undefined, 'it is recorded and leased')
  return { seq: verdict.seq, token }
}

export function claim(store: CompleteStore, options: Partial<ClaimOptions> = {}): Promise<ClaimedEvent[]> {
  return store.claim({ worker: 'worker-1', limit: 100, leaseMs: LEASE_MS, ...options })
}

export async function claimEvent(
  store: CompleteStore,
  of: EventKey,
  options: Partial<ClaimOptions> = {},
): Promise<ClaimedEvent> {
  const claimed = await claim(store, { event: of, limit: 1, ...options })
  assert.deepEqual(
    claimed.map(({ source, id }) => ({ source, id: id })),
    [of],
    'the event can be claimed',
  )
  return claimed[0]!
}

export async function cannotClaim(store: CompleteStore, of: EventKey): Promise<void> {
  assert.deepEqual(await claim(store, { event: of, limit: 1 }), [])
}

export function settlement(lease: Lease, outcome: Outcome): Settlement {
  return { lease, outcome, durationMs: 5 }
}

export async function settle(store: CompleteStore, lease: Lease, outcome: Outcome): Promise<boolean> {
  const done = await store.settle([settlement(lease, outcome)])
  assert.equal(done.length, 1)
  return done[0]!
}

/** Inside a handler's transaction. */
export async function settleIn(
  transaction: StoreTransaction,
  lease: Lease,
  outcome: Outcome,
): Promise<boolean> {
  const done = await transaction.settle([settlement(lease, outcome)])
  assert.equal(done.length, 1)
  return done[0]!
}

export async function attempt(store: CompleteStore, of: EventKey, outcome: Outcome): Promise<ClaimedEvent> {
  const claimed = await claimEvent(store, of)
  assert.equal(await settle(store, claimed.lease, outcome), true, 'a live lease settles')
  return claimed
}

export async function operate(
  store: CompleteStore,
  verb: Action['verb'],
  of: EventKey,
  more: Partial<Action> = {},
): Promise<ActionResult> {
  const results = await store.operate({ verb, events: [of], actor: 'ada', note: 'asked to', ...more })
  assert.equal(results.length, 1)
  return results[0]!
}

export async function get(store: CompleteStore, of: EventKey): Promise<EventRecord> {
  const found = await store.get(of)
  assert.ok(found, `event ${of.id} of ${of.source} is in the log`)
  return found
}

export interface Snapshot {
  readonly event: EventRecord | null
  readonly attempts: readonly Attempt[]
  readonly payload: Payload | null
  readonly stats: readonly SourceStats[]
}

/** Everything a store returns about an event, to compare before and after. */
export async function snapshot(store: Store, of: EventKey): Promise<Snapshot> {
  const [found, attempts, payload, stats] = await Promise.all([
    store.get(of),
    store.inspect?.attempts(of) ?? [],
    store.inspect?.payload(of) ?? null,
    store.stats(),
  ])
  return { event: found, attempts, payload, stats }
}

/** A store without `duplicates` has nothing to flush: it counts in each `record`. */
export async function flush(store: Store): Promise<void> {
  await store.duplicates?.flush()
}

export async function changesNothing(store: Store, of: EventKey, act: () => Promise<void>): Promise<void> {
  const before = await snapshot(store, of)
  await act()
  assert.deepEqual(await snapshot(store, of), before, 'nothing has changed')
}

export async function listAll(
  store: CompleteStore,
  filter: EventFilter = {},
  limit = 500,
): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  let cursor: string | null = null
  do {
    const page = await store.list(filter, { limit, cursor })
    assert.ok(page.events.length <= limit, 'a page is no longer than asked')
    all.push(...page.events)
    cursor = page.next
  } while (cursor !== null)
  return all
}

export async function rejects(act: () => unknown, code: ErrorCode): Promise<void> {
  await assert.rejects(
    async () => act(),
    (error: unknown) => {
      assert.equal((error as { code?: unknown }).code, code, `expected ${code}, got: ${String(error)}`)
      return true
    },
  )
}

/** Repeats the same random numbers in each run (mulberry32), to repeat a failure. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(next: () => number, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)]!
}

export function shuffled<T>(next: () => number, list: readonly T[]): T[] {
  const copy = [...list]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    ;[copy[i], copy[j]] = [copy[j]!, copy[i]!]
  }
  return copy
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
