/** Leases: an expired lease changes nothing, and time is the store's clock. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Lease } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  type CaseHarness,
  type ContractCase,
  cannotClaim,
  changesNothing,
  claim,
  claimEvent,
  dead,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  range,
  recordEvent,
  settle,
  settleIn,
  settlement,
  succeeded,
} from './support.js'

const of = key('evt')
const other = key('other')

/** Tries every write that needs a lease with an expired one, and asserts that each is refused. */
async function isWorthless(harness: CaseHarness, store: CompleteStore, lease: Lease): Promise<void> {
  for (const outcome of [succeeded, ignored, failedFor(1_000), dead]) {
    assert.equal(await settle(store, lease, outcome), false, `settle as ${outcome.kind}`)
  }
  assert.deepEqual(await store.extend([lease], LEASE_MS), [false], 'extend')
  assert.deepEqual(await store.release([lease]), [false], 'release')
  for (const step of ['start', 'finish'] as const) {
    const effect = await store.keys?.effect({ step, lease, name: 'mail', result: 'sent' })
    assert.equal(effect?.state ?? 'fenced', 'fenced', `${step} an effect`)
  }
  const transaction = await store.transaction()
  await harness.insertEffect(transaction.tx, 'worthless')
  assert.equal(await settleIn(transaction, lease, succeeded), false, 'settle in a transaction')
  await transaction.rollback()
  assert.equal(await harness.countEffects('worthless'), 0)
}

/** Each brings `of` (and `other`) into a state in which the lease that it returns has expired. */
const deadLeases: readonly [string, (store: CompleteStore, harness: CaseHarness) => Promise<Lease>][] = [
  [
    'whose time is over, even before anyone claims again',
    async (store, { advance }) => {
      const { lease } = await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      return lease
    },
  ],
  [
    'whose event another worker has taken',
    async (store, { advance }) => {
      const { lease } = await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      await claimEvent(store, of, { worker: 'worker-2' })
      return lease
    },
  ],
  [
    'whose event another worker has finished',
    async (store, { advance }) => {
      const { lease } = await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      await attempt(store, of, succeeded)
      return lease
    },
  ],
  ['that was settled', async (store) => (await attempt(store, of, succeeded)).lease],
  ['that was settled as failed', async (store) => (await attempt(store, of, failedFor(0))).lease],
  [
    'that was settled, now that the event is claimed again',
    async (store) => {
      const { lease } = await attempt(store, of, failedFor(0))
      await claimEvent(store, of)
      return lease
    },
  ],
  [
    'that was released',
    async (store) => {
      const { lease } = await claimEvent(store, of)
      assert.deepEqual(await store.release([lease]), [true])
      return lease
    },
  ],
  [
    'that was released, now that the event is claimed again with the same attempt number',
    async (store) => {
      const first = await claimEvent(store, of)
      assert.deepEqual(await store.release([first.lease]), [true])
      assert.equal((await claimEvent(store, of)).attempt, first.attempt)
      return first.lease
    },
  ],
  [
    'of a run that an operator has ended with a replay',
    async (store) => {
      const { lease } = await attempt(store, of, succeeded)
      await operate(store, 'replay', of, { force: true })
      await claimEvent(store, of)
      return lease
    },
  ],
  [
    'of another event',
    async (store) => {
      const [mine, theirs] = [await claimEvent(store, of), await claimEvent(store, other)]
      return { seq: mine.lease.seq, token: theirs.lease.token }
    },
  ],
  [
    'that was made up',
    async (store) => ({ seq: (await claimEvent(store, of)).lease.seq, token: randomUUID() }),
  ],
  [
    'with a token that is not even of the right form',
    async (store) => ({ seq: (await claimEvent(store, of)).lease.seq, token: "x' or '1'='1" }),
  ],
  ['with an empty token', async (store) => ({ seq: (await claimEvent(store, of)).lease.seq, token: '' })],
  [
    'on an event that does not exist',
    async (store) => ({ seq: 987_654_321, token: (await claimEvent(store, of)).lease.token }),
  ],
]

export const leaseCases: readonly ContractCase[] = [
  ...deadLeases.map(([name, drive]) => ({
    name: `a lease ${name} changes nothing`,
    async run(harness: CaseHarness) {
      const store = await harness.open()
      await recordEvent(store, of.id)
      await recordEvent(store, other.id)
      const lease = await drive(store, harness)
      await changesNothing(store, of, () =>
        changesNothing(store, other, () => isWorthless(harness, store, lease)),
      )
    },
  })),
  {
    name: 'a lease settles until its time is over',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of, { leaseMs: 100_000 })
      await advance(90_000)
      assert.equal((await get(store, of)).state, 'processing')
      await cannotClaim(store, of)
      assert.equal(await settle(store, lease, succeeded), true)
    },
  },
  {
    name: 'extending a live lease counts its time from now',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of, { leaseMs: 100_000 })
      for (const _ of range(3)) {
        await advance(80_000)
        assert.deepEqual(await store.extend([lease], 100_000), [true])
      }
      await advance(80_000)
      assert.equal((await get(store, of)).state, 'processing')
      await advance(20_001)
      assert.equal((await get(store, of)).state, 'pending')
      assert.deepEqual(await store.extend([lease], 100_000), [false])
    },
  },
  {
    name: 'extending can also shorten a lease',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of, { leaseMs: 100_000 })
      assert.deepEqual(await store.extend([lease], 10_000), [true])
      await advance(10_001)
      assert.equal(await settle(store, lease, succeeded), false)
    },
  },
  {
    name: 'each lease of a batch is judged on its own, in order',
    async run({ open, advance }) {
      const store = await open()
      const ids = range(6).map((i) => `e${i}`)
      for (const id of ids) await recordEvent(store, id)
      const old = []
      for (const id of ids.slice(0, 3)) old.push((await claimEvent(store, key(id), { leaseMs: 1_000 })).lease)
      await advance(1_001)
      const live = []
      for (const id of ids.slice(3)) live.push((await claimEvent(store, key(id))).lease)
      const [a, b, c] = [live[0]!, live[1]!, live[2]!]
      assert.deepEqual(await store.extend([old[0]!, a, old[1]!, b, c], LEASE_MS), [
        false,
        true,
        false,
        true,
        true,
      ])
      assert.deepEqual(
        await store.settle([
          settlement(b, ignored),
          settlement(old[0]!, succeeded),
          settlement(a, failedFor(LEASE_MS)),
          settlement(old[1]!, dead),
        ]),
        [true, false, true, false],
      )
      assert.deepEqual(await store.release([old[2]!, c, a]), [false, true, false])
      const states = await Promise.all(ids.map(async (id) => (await get(store, key(id))).state))
      assert.deepEqual(states, ['pending', 'pending', 'pending', 'failed', 'ignored', 'pending'])
    },
  },
  {
    name: 'a lease presented twice in one batch settles once',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      const done = await store.settle([settlement(lease, succeeded), settlement(lease, failedFor(0))])
      assert.equal(done.filter(Boolean).length, 1)
      const found = await get(store, of)
      assert.equal(found.state, done[0] ? 'succeeded' : 'failed')
      assert.equal((await store.inspect.attempts(of)).length, 1)
      await store.settle([settlement(lease, succeeded), settlement(lease, succeeded)])
      assert.deepEqual(await get(store, of), found)
    },
  },
  {
    name: 'many concurrent settlements of one lease write one outcome',
    needs: ['inspect'],
    async run({ open }) {
      const stores = [await open(), await open()]
      await recordEvent(stores[0]!, 'evt')
      const { lease } = await claimEvent(stores[0]!, of)
      const done = await Promise.all(range(10).map((i) => settle(stores[i % 2]!, lease, succeeded)))
      assert.equal(done.filter(Boolean).length, 1)
      assert.equal((await stores[0]!.inspect.attempts(of)).length, 1)
    },
  },
  {
    name: 'settle, extend and release of an empty list return an empty list',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.settle([]), [])
      assert.deepEqual(await store.extend([], LEASE_MS), [])
      assert.deepEqual(await store.release([]), [])
    },
  },
  {
    name: 'a lease is judged by the log, not by the store that claimed: a second store settles it too',
    async run({ open, advance }) {
      const [storeA, storeB] = [await open(), await open()]
      await recordEvent(storeA, 'evt')
      const { lease } = await claimEvent(storeA, of)
      assert.deepEqual(await storeB.extend([lease], LEASE_MS), [true])
      assert.equal(await settle(storeB, lease, failedFor(0)), true)
      const again = await claimEvent(storeA, of)
      await advance(LEASE_MS + 1)
      assert.equal(await settle(storeB, again.lease, succeeded), false)
      assert.equal((await claim(storeB)).length, 1)
    },
  },
]
