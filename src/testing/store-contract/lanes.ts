/** Lanes: events of one source and lane are claimed one at a time, in the order they were recorded. */
import assert from 'node:assert/strict'
import type { NewDelivery } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import { laneTurnCases } from './lane-turns.js'
import {
  attempt,
  type ContractCase,
  cannotClaim,
  claim,
  claimEvent,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  openSeveral,
  operate,
  range,
  record,
  settle,
  succeeded,
} from './support.js'

/** Longer than a store may postpone an event that it found blocked. */
const PUSHED_BACK_MS = 10_000

function inLane(eventId: string, lane: string | null, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(eventId, { lane }), more)
}

const ids = async (store: CompleteStore) => (await claim(store)).map((c) => c.id)

export const laneCases: readonly ContractCase[] = [
  {
    name: 'events of a lane recorded in one batch are claimed in the order of the batch',
    async run({ open, advance }) {
      const store = await open()
      const order = ['m', 'z', 'a', 'k', 'b']
      await record(store, ...order.map((id) => inLane(id, 'a')))
      for (const id of order) {
        await advance(PUSHED_BACK_MS)
        const [next, ...more] = await claim(store)
        assert.deepEqual([next?.id, more.length], [id, 0])
        assert.equal(await settle(store, next!.lease, succeeded), true)
      }
    },
  },
  {
    name: 'a lane gives one event at a time, in order, and does not block other lanes',
    async run({ open }) {
      const store = await open()
      await record(
        store,
        inLane('a1', 'a'),
        inLane('a2', 'a'),
        inLane('b1', 'b'),
        inLane('free 1', null),
        inLane('a3', 'a'),
        inLane('free 2', null),
        inLane('other', 'a', { source: 'crm' }),
      )
      const first = await claim(store)
      assert.deepEqual(first.map((c) => c.id).sort(), ['a1', 'b1', 'free 1', 'free 2', 'other'])
      assert.deepEqual(await ids(store), [])
      const leases = Object.fromEntries(first.map((c) => [c.id, c.lease]))
      assert.equal(await settle(store, leases.a1!, succeeded), true)
      assert.deepEqual(await ids(store), ['a2'], 'the next of the lane is due at once')
      assert.equal(await settle(store, leases.b1!, ignored), true)
      assert.deepEqual(await ids(store), [])
    },
  },
  {
    name: 'a lane waits for an event that will be tried again, and continues when it is a dead letter',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'), inLane('a3', 'a'))
      await attempt(store, key('a1'), failedFor(60_000))
      assert.deepEqual(await ids(store), [])
      await advance(60_000 + PUSHED_BACK_MS)
      const [again, ...more] = await claim(store)
      assert.equal(again?.id, 'a1')
      assert.deepEqual(more, [])
      assert.equal(await settle(store, again.lease, dead), true)
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'a lane continues when an operator ignores its head',
    async run({ open }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await attempt(store, key('a1'), failedFor(LEASE_MS))
      assert.deepEqual(await ids(store), [])
      assert.ok((await operate(store, 'ignore', key('a1'))).done)
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'an event that was lost or released is the head of its lane again',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      const [first] = await claim(store)
      assert.deepEqual(await ids(store), [])
      assert.ok(first)
      assert.deepEqual(await store.release([first.lease]), [true])
      assert.deepEqual(await ids(store), ['a1'])
      await advance(LEASE_MS + PUSHED_BACK_MS)
      assert.deepEqual(await ids(store), ['a1'])
    },
  },
  {
    name: 'an event behind the head is not claimed, even by its id',
    async run({ open }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await cannotClaim(store, key('a2'))
      const first = await claimEvent(store, key('a1'))
      await cannotClaim(store, key('a2'))
      assert.equal((await get(store, key('a2'))).state, 'pending')
      assert.equal(await settle(store, first.lease, succeeded), true)
      await claimEvent(store, key('a2'))
    },
  },
  {
    name: 'an outcome written in a transaction makes the next event of the lane due when it commits',
    async run({ open }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      const first = await claimEvent(store, key('a1'))
      const transaction = await store.transaction()
      await transaction.settle([{ lease: first.lease, outcome: succeeded, durationMs: 1 }])
      await transaction.commit()
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'many workers process many lanes, each in order and one event at a time',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      const lanes = range(5).map((n) => `lane ${n}`)
      const names = range(100).map((i) => ({ id: `e${i}`, lane: lanes[i % 5]! }))
      for (const half of [names.slice(0, 50), names.slice(50)]) {
        await record(stores[0]!, ...half.map(({ id, lane }) => inLane(id, lane)))
      }
      const laneOf = new Map(names.map(({ id, lane }) => [id, lane]))
      const open = new Set<string>()
      const done = new Map<string, number[]>(lanes.map((lane) => [lane, []]))
      const handled = () => [...done.values()].flat().length
      const giveUpAt = Date.now() + 25_000
      await Promise.all(
        range(6).map(async (n) => {
          while (handled() < 100 && Date.now() < giveUpAt) {
            const claimed = await claim(stores[n % 2]!, { limit: 3, worker: `w${n}` })
            // The clock is not advanced: the next event is due at once, and the lease of a slow worker must not expire.
            if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
            for (const { id: eventId, lease } of claimed) {
              const lane = laneOf.get(eventId)!
              assert.ok(!open.has(lane), `${lane} gave two events at once`)
              open.add(lane)
              done.get(lane)!.push(lease.seq)
            }
            for (const { id: eventId, lease } of claimed) {
              // Noted before the write: another worker may claim the next event before this call returns.
              open.delete(laneOf.get(eventId)!)
              assert.equal(await settle(stores[n % 2]!, lease, succeeded), true)
            }
          }
        }),
      )
      assert.equal(handled(), 100)
      for (const seqs of done.values())
        assert.deepEqual(
          seqs,
          [...seqs].sort((a, b) => a - b),
        )
    },
  },
  ...laneTurnCases,
]
