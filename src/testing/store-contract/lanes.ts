/** Lanes: events of one source and lane are claimed one at a time, in the order they were recorded. */
import assert from 'node:assert/strict'
import type { NewDelivery } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import { laneTurnCases } from './lane-turns.js'
import {
  attempt,
  cannotClaim,
  claim,
  claimOne,
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

/** More than a store may push back an event it found blocked. */
const PUSHED_BACK_MS = 10_000

function inLane(eventId: string, lane: string | null, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(eventId, { lane }), more)
}

const ids = async (store: CompleteStore) => (await claim(store)).map((c) => c.eventId)

export const laneCases: readonly ContractCase[] = [
  {
    name: 'events of a lane recorded in one batch are claimed in the order they stand in it',
    async run({ open, advance }) {
      const store = await open()
      const order = ['m', 'z', 'a', 'k', 'b']
      await record(store, ...order.map((id) => inLane(id, 'a')))
      for (const id of order) {
        await advance(PUSHED_BACK_MS)
        const [next, ...more] = await claim(store)
        assert.deepEqual([next?.eventId, more.length], [id, 0])
        assert.equal(await settle(store, next!.lease, succeeded), true)
      }
    },
  },
  {
    name: 'a lane gives one event at a time, in order, and others are not held up by it',
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
      assert.deepEqual(first.map((c) => c.eventId).sort(), ['a1', 'b1', 'free 1', 'free 2', 'other'])
      assert.deepEqual(await ids(store), [])
      const held = Object.fromEntries(first.map((c) => [c.eventId, c.lease]))
      assert.equal(await settle(store, held.a1!, succeeded), true)
      assert.deepEqual(await ids(store), ['a2'], 'the next of the lane is due at once')
      assert.equal(await settle(store, held.b1!, ignored), true)
      assert.deepEqual(await ids(store), [])
    },
  },
  {
    name: 'a lane waits for an event that will be tried again, and goes on when it is given up',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'), inLane('a3', 'a'))
      await attempt(store, key('a1'), failedFor(60_000))
      assert.deepEqual(await ids(store), [])
      await advance(60_000 + PUSHED_BACK_MS)
      const [again, ...more] = await claim(store)
      assert.equal(again?.eventId, 'a1')
      assert.deepEqual(more, [])
      assert.equal(await settle(store, again.lease, dead), true)
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'a lane goes on when an operator ignores its first event',
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
    name: 'an event that was lost or handed back is the first of its lane again',
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
    name: 'an event is not claimed out of turn, not even by name',
    async run({ open }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await cannotClaim(store, key('a2'))
      const first = await claimOne(store, key('a1'))
      await cannotClaim(store, key('a2'))
      assert.equal((await get(store, key('a2'))).state, 'pending')
      assert.equal(await settle(store, first.lease, succeeded), true)
      await claimOne(store, key('a2'))
    },
  },
  {
    name: 'an outcome written in a transaction sets the lane free when it commits',
    async run({ open }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      const first = await claimOne(store, key('a1'))
      const transaction = await store.transaction()
      await transaction.settle([{ lease: first.lease, outcome: succeeded, durationMs: 1 }])
      await transaction.commit()
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'many workers empty many lanes, each in order, with never two events of a lane at once',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      const lanes = range(5).map((n) => `lane ${n}`)
      const names = range(100).map((i) => ({ id: `e${i}`, lane: lanes[i % 5]! }))
      for (const part of [names.slice(0, 50), names.slice(50)]) {
        await record(stores[0]!, ...part.map(({ id, lane }) => inLane(id, lane)))
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
            // The clock stays: turns are handed on at once, and a lease must not run out under a slow worker.
            if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
            for (const { eventId, lease } of claimed) {
              const lane = laneOf.get(eventId)!
              assert.ok(!open.has(lane), `${lane} gave two events at once`)
              open.add(lane)
              done.get(lane)!.push(lease.seq)
            }
            for (const { eventId, lease } of claimed) {
              // Free before the write is: another worker may hear of the next one before this call returns.
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
