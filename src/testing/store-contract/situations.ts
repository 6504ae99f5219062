/** Every situation an event can be in, and how to bring a new event into it. */
import assert from 'node:assert/strict'
import type { EventKey, Lease, State } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { CaseHarness } from './harness.js'
import {
  attempt,
  claimOne,
  dead,
  delivery,
  event,
  failedFor,
  ignored,
  key,
  LEASE_MS,
  operate,
  record,
  recordOne,
  sha256,
  succeeded,
} from './support.js'

export interface Situation {
  readonly name: string
  readonly state: State
  /** Whether a worker may take it when it asks for what is due. */
  readonly due: boolean
  /** Whether a worker may take it when it asks for this very event. */
  readonly claimable: boolean
  /** Drives a new event here. Answers its last lease, alive only in state `processing`. */
  drive(store: CompleteStore, harness: CaseHarness, of: EventKey): Promise<Lease | null>
}

async function lose(store: CompleteStore, harness: CaseHarness, of: EventKey): Promise<Lease> {
  const { lease } = await claimOne(store, of)
  await harness.advance(LEASE_MS + 1)
  return lease
}

async function recorded(store: CompleteStore, of: EventKey): Promise<void> {
  await recordOne(store, of.eventId, { source: of.source })
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
    name: 'handed back before its first attempt began',
    state: 'pending',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      await recorded(store, of)
      const { lease } = await claimOne(store, of)
      assert.deepEqual(await store.release([lease]), [true])
      return lease
    },
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
      return (await claimOne(store, of)).lease
    },
  },
  {
    name: 'in a later attempt',
    state: 'processing',
    due: false,
    claimable: false,
    async drive(store, _, of) {
      await settled(store, of, failedFor(0))
      return (await claimOne(store, of)).lease
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
      return (await claimOne(store, of)).lease
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
      return (await claimOne(store, of)).lease
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
      const guard = { guardHash: sha256(of.eventId) }
      const first = key(`${of.eventId}, first`, of.source)
      await record(store, delivery(event(first.eventId, guard), { source: of.source }))
      await attempt(store, first, succeeded)
      const [verdict] = await record(store, delivery(event(of.eventId, guard), { source: of.source }))
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
    name: 'handed back before a later attempt began',
    state: 'failed',
    due: true,
    claimable: true,
    async drive(store, _, of) {
      await settled(store, of, failedFor(0))
      const { lease } = await claimOne(store, of)
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
