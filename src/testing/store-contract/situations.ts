/**
 * Every situation of an event and how to bring a new event into it, and a sample log of random events in all situations,
 * which every run repeats.
 */
import assert from 'node:assert/strict'
import type { EventFilter, EventKey, EventRecord, Lease, NewDelivery, Outcome, State } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  bytes,
  type CaseHarness,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  flush,
  ignored,
  key,
  LEASE_MS,
  operate,
  pick,
  random,
  range,
  record,
  recordEvent,
  recordLeased,
  sha256,
  succeeded,
} from './support.js'

export interface Situation {
  readonly name: string
  readonly state: State
  readonly due: boolean
  readonly claimable: boolean
  /** Brings a new event into the situation. Returns its last lease, which is live only in state `processing`. */
  drive(store: CompleteStore, harness: CaseHarness, of: EventKey): Promise<Lease | null>
}

async function lose(store: CompleteStore, harness: CaseHarness, of: EventKey): Promise<Lease> {
  const { lease } = await claimEvent(store, of)
  await harness.advance(LEASE_MS + 1)
  return lease
}

async function recorded(store: CompleteStore, of: EventKey): Promise<void> {
  await recordEvent(store, of.id, { source: of.source })
}

async function settled(store: CompleteStore, of: EventKey, ...outcomes: Parameters<typeof attempt>[2][]) {
  await recorded(store, of)
  let lease: Lease | null = null
  for (const outcome of outcomes) lease = (await attempt(store, of, outcome)).lease
  return lease
}

async function ordered(
  store: CompleteStore,
  verb: 'retry' | 'replay' | 'ignore',
  of: EventKey,
): Promise<void> {
  const result = await operate(store, verb, of, { force: true })
  assert.ok(result.done, `${verb} is possible`)
}

export const situations: readonly Situation[] = [
  {
    name: 'new',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      await recorded(store, of)
      return null
    },
  },
  {
    name: 'released before its first attempt began',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      await recorded(store, of)
      const { lease } = await claimEvent(store, of)
      assert.deepEqual(await store.release([lease]), [true])
      return lease
    },
  },
  {
    name: 'recorded under a lease',
    state: 'processing',
    due: false,
    claimable: false,
    drive: (store, _, of) => recordLeased(store, of),
  },
  {
    name: 'lost in its first attempt',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, harness, of) {
      await recorded(store, of)
      return lose(store, harness, of)
    },
  },
  {
    name: 'retried by an operator',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      const lease = await settled(store, of, dead)
      await ordered(store, 'retry', of)
      return lease
    },
  },
  {
    name: 'replayed by an operator',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      const lease = await settled(store, of, succeeded)
      await ordered(store, 'replay', of)
      return lease
    },
  },
  {
    name: 'in its first attempt',
    state: 'processing',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      await recorded(store, of)
      return (await claimEvent(store, of)).lease
    },
  },
  {
    name: 'in a later attempt',
    state: 'processing',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      await settled(store, of, failedFor(0))
      return (await claimEvent(store, of)).lease
    },
  },
  {
    name: 'in an attempt after a lost one',
    state: 'processing',
    due: false,
    claimable: false,
    async drive(store, harness, of) {
      await recorded(store, of)
      await lose(store, harness, of)
      return (await claimEvent(store, of)).lease
    },
  },
  {
    name: 'in the first attempt of a new run',
    state: 'processing',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      await settled(store, of, failedFor(0), succeeded)
      await ordered(store, 'replay', of)
      return (await claimEvent(store, of)).lease
    },
  },
  {
    name: 'succeeded',
    state: 'succeeded',
    due: false,
    claimable: false,
    drive: (store, _, of) => settled(store, of, succeeded),
  },
  {
    name: 'ignored by its handler',
    state: 'ignored',
    due: false,
    claimable: false,
    drive: (store, _, of) => settled(store, of, ignored),
  },
  {
    name: 'ignored by an operator',
    state: 'ignored',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      await recorded(store, of)
      await ordered(store, 'ignore', of)
      return null
    },
  },
  {
    name: 'ignored as replayed content',
    state: 'ignored',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      // The first id is settled, so that this event is the only one of its source that could be due.
      const guard = { guardHash: sha256(of.id) }
      const first = key(`${of.id}, first`, of.source)
      await record(store, delivery(event(first.id, guard), { source: of.source }))
      await attempt(store, first, succeeded)
      const [verdict] = await record(store, delivery(event(of.id, guard), { source: of.source }))
      assert.ok(verdict?.status === 'recorded' && verdict.state === 'ignored')
      return null
    },
  },
  {
    name: 'failed and waiting for its next attempt',
    state: 'failed',
    due: false,
    claimable: true,
    drive: (store, _, of) => settled(store, of, failedFor(100 * LEASE_MS)),
  },
  {
    name: 'failed and due again',
    state: 'failed',
    due: true,
    claimable: true,
    async drive(store, harness, of) {
      const lease = await settled(store, of, failedFor(1_000))
      await harness.advance(1_001)
      return lease
    },
  },
  {
    name: 'released before a later attempt began',
    state: 'failed',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      await settled(store, of, failedFor(0))
      const { lease } = await claimEvent(store, of)
      assert.deepEqual(await store.release([lease]), [true])
      return lease
    },
  },
  {
    name: 'lost in a later attempt',
    state: 'failed',
    due: true,
    claimable: true,
    async drive(store, harness, of) {
      await settled(store, of, failedFor(0))
      return lose(store, harness, of)
    },
  },
  {
    name: 'a dead letter',
    state: 'failed',
    due: false,
    claimable: false,
    drive: (store, _, of) => settled(store, of, failedFor(0), dead),
  },
]

/** Characters that are special in LIKE or GLOB are literal here, and case matters. */
export const types = [
  'invoice.paid',
  'invoice.paid.late',
  'Invoice.paid',
  'invoice_paid',
  'invoice%paid',
  'customer[1]',
  'customer?',
  'customer.created',
]
export const sources = ['shop', 'Shop', 'crm_1']
const references = [null, null, 'order 1', 'order 2', 'ORDER 1', 'order_1']
const labelled = [[], [], ['order 1'], ['order_1', 'order 3'], ['order 2']] as const
const outcomes: readonly (Outcome | null)[] = [
  null,
  succeeded,
  succeeded,
  ignored,
  { kind: 'ignored', reason: 'unhandled' },
  failedFor(1_000 * LEASE_MS),
  failedFor(0),
  dead,
]

export async function fillSample(store: CompleteStore, harness: CaseHarness, count: number): Promise<void> {
  const next = random(count)
  const deliveries = range(count).map((i): NewDelivery => {
    const source = pick(next, sources)
    const guard = next() < 0.1 ? { guardHash: sha256('known bytes') } : {}
    const id = next() < 0.2 ? `shared ${i % 10}` : `e${i}`
    const about = {
      reference: pick(next, references),
      references: pick(next, labelled).map((value) => ({ label: 'order', value })),
    }
    return delivery(event(id, { type: pick(next, types), ...about, ...guard }), {
      source,
      contentGuard: next() < 0.5 ? 'accept' : 'review',
      receivedAt: Date.now() - Math.floor(next() * 10) * DAY_MS - Math.floor(next() * 3_600_000),
    })
  })
  await record(store, ...deliveries)
  for (const { source, events } of deliveries) {
    const of = key(events[0]!.id, source)
    const found = await store.get(of)
    if (found?.state === 'pending') {
      for (const outcome of range(Math.ceil(next() * 2)).map(() => pick(next, outcomes))) {
        if (outcome) await attempt(store, of, outcome)
        if (outcome?.kind !== 'failed' || outcome.retryInMs === null) break
      }
    }
    const now = (await store.get(of))!
    if (now.state === 'succeeded' && next() < 0.2) await operate(store, 'replay', of, { force: true })
    if (now.reason === 'out of tries' && next() < 0.2) await operate(store, 'retry', of)
    if (now.state === 'pending' && next() < 0.2) await operate(store, 'ignore', of)
    if (now.state === 'pending' && next() < 0.3)
      await claimEvent(store, of, { leaseMs: 2_000 }).catch(() => {})
    if (next() < 0.2) await record(store, delivery(event(of.id), { source, body: bytes('again') }))
    if (next() < 0.2) {
      await record(store, delivery(event(of.id, { contentHash: sha256('else') }), { source }))
    }
  }
  // The leases above have expired now; the next ones are live while the sample is read.
  await harness.advance(2_001)
  for (const { source, events } of deliveries) {
    const of = key(events[0]!.id, source)
    if (next() < 0.1) await store.claim({ worker: 'w', limit: 1, leaseMs: 100 * LEASE_MS, event: of })
  }
  await flush(store)
}

export function matches(filter: EventFilter, found: EventRecord): boolean {
  return (
    (filter.source === undefined || found.source === filter.source) &&
    (filter.id === undefined || found.id === filter.id) &&
    (filter.type === undefined || glob(filter.type, found.type)) &&
    (filter.state === undefined || found.state === filter.state) &&
    (filter.dead === undefined ||
      (found.state === 'failed' && (found.nextAttemptAt === null) === filter.dead)) &&
    (filter.reason === undefined || found.reason === filter.reason) &&
    (filter.reference === undefined || refersTo(found, filter.reference, filter.label)) &&
    (filter.from === undefined || found.receivedAt >= filter.from) &&
    (filter.to === undefined || found.receivedAt < filter.to) &&
    (filter.hasDuplicates === undefined || found.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || (found.lastConflict?.decidedAt === null) === filter.hasConflict) &&
    (filter.flagged === undefined || (found.sameAs !== null) === filter.flagged)
  )
}

function refersTo({ reference, references }: EventRecord, value: string, label?: string): boolean {
  if (label === undefined && reference === value) return true
  return references.some((one) => one.value === value && (label ?? one.label) === one.label)
}

function glob(pattern: string, text: string): boolean {
  const pieces = pattern.split('*').map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${pieces.join('.*')}$`, 's').test(text)
}
