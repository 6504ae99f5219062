/** Leases: whoever does not hold a live one changes nothing (I4), and time is the store's (I9). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Lease } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { CaseHarness, ContractCase } from './harness.js'
import {
  attempt,
  cannotClaim,
  changesNothing,
  claim,
  claimOne,
  dead,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  range,
  recordOne,
  settle,
  settleIn,
  settlement,
  succeeded,
} from './support.js'

const of = key('evt')
const other = key('other')

/** Tries every write that needs a lease, with one that is dead, and sees each refused. */
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

/** Each drives `of` (and `other`) so that the lease it answers is dead. */
const deadLeases: readonly [string, (store: CompleteStore, harness: CaseHarness) => Promise<Lease>][] = [
  [
    'whose time is over, even before anyone claims again',
    async (store, { advance }) => {
      const { lease } = await claimOne(store, of)
      await advance(LEASE_MS + 1)
      return lease
    },
  ],
  [
    'whose event another worker has taken',
    async (store, { advance }) => {
      const { lease } = await claimOne(store, of)
      await advance(LEASE_MS + 1)
      await claimOne(store, of, { worker: 'worker-2' })
      return lease
    },
  ],
  [
    'whose event another worker has finished',
    async (store, { advance }) => {
      const { lease } = await claimOne(store, of)
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
      await claimOne(store, of)
      return lease
    },
  ],
  [
    'that was released',
    async (store) => {
      const { lease } = await claimOne(store, of)
      assert.deepEqual(await store.release([lease]), [true])
      return lease
    },
  ],
  [
    'that was released, now that the event is claimed again with the same attempt number',
    async (store) => {
      const first = await claimOne(store, of)
      assert.deepEqual(await store.release([first.lease]), [true])
      assert.equal((await claimOne(store, of)).attempt, first.attempt)
      return first.lease
    },
  ],
  [
    'of a run that an operator has ended with a replay',
    async (store) => {
      const { lease } = await attempt(store, of, succeeded)
      await operate(store, 'replay', of, { force: true })
      await claimOne(store, of)
      return lease
    },
  ],
  [
    'of another event',
    async (store) => {
      const [mine, theirs] = [await claimOne(store, of), await claimOne(store, other)]
      return { seq: mine.lease.seq, token: theirs.lease.token }
    },
  ],
  [
    'that was made up',
    async (store) => ({ seq: (await claimOne(store, of)).lease.seq, token: randomUUID() }),
  ],
  [
    'with a token that is not even of the right form',
    async (store) => ({ seq: (await claimOne(store, of)).lease.seq, token: "x' or '1'='1" }),
  ],
  ['with an empty token', async (store) => ({ seq: (await claimOne(store, of)).lease.seq, token: '' })],
  [
    'on an event that does not exist',
    async (store) => ({ seq: 987_654_321, token: (await claimOne(store, of)).lease.token }),
  ],
]

export const leaseCases: readonly ContractCase[] = [
  ...deadLeases.map(([name, drive]) => ({
    name: `a lease ${name} changes nothing`,
    async run(harness: CaseHarness) {
      const store = await harness.open()
      await recordOne(store, of.eventId)
      await recordOne(store, other.eventId)
      const lease = await drive(store, harness)
      await changesNothing(store, of, () =>
        changesNothing(store, other, () => isWorthless(harness, store, lease)),
      )
    },
  })),
  {
    name: 'a lease is alive until its time is over, and settles then',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of, { leaseMs: 100_000 })
      await advance(90_000)
      assert.equal((await get(store, of)).state, 'processing')
      await cannotClaim(store, of)
      assert.equal(await settle(store, lease, succeeded), true)
    },
  },
  {
    name: 'extending gives a live lease its time from now',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of, { leaseMs: 100_000 })
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
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of, { leaseMs: 100_000 })
      assert.deepEqual(await store.extend([lease], 10_000), [true])
      await advance(10_001)
      assert.equal(await settle(store, lease, succeeded), false)
    },
  },
  {
    name: 'in a batch each lease is judged on its own, in order',
    async run({ open, advance }) {
      const store = await open()
      const ids = range(6).map((i) => `e${i}`)
      for (const id of ids) await recordOne(store, id)
      const old = []
      for (const id of ids.slice(0, 3)) old.push((await claimOne(store, key(id), { leaseMs: 1_000 })).lease)
      await advance(1_001)
      const live = []
      for (const id of ids.slice(3)) live.push((await claimOne(store, key(id))).lease)
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
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of)
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
    name: 'of many settlements of one lease at the same time one is written',
    needs: ['inspect'],
    async run({ open }) {
      const stores = [await open(), await open()]
      await recordOne(stores[0]!, 'evt')
      const { lease } = await claimOne(stores[0]!, of)
      const done = await Promise.all(range(10).map((i) => settle(stores[i % 2]!, lease, succeeded)))
      assert.equal(done.filter(Boolean).length, 1)
      assert.equal((await stores[0]!.inspect.attempts(of)).length, 1)
    },
  },
  {
    name: 'nothing to settle, extend or release is answered with nothing',
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
      const [one, two] = [await open(), await open()]
      await recordOne(one, 'evt')
      const { lease } = await claimOne(one, of)
      assert.deepEqual(await two.extend([lease], LEASE_MS), [true])
      assert.equal(await settle(two, lease, failedFor(0)), true)
      const again = await claimOne(one, of)
      await advance(LEASE_MS + 1)
      assert.equal(await settle(two, again.lease, succeeded), false)
      assert.equal((await claim(two)).length, 1)
    },
  },
]
