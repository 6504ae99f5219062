/** Cases of the `inspect` capability about unfinished events: where they stand, and which are the oldest. */
import assert from 'node:assert/strict'
import { limits } from '../../model.js'
import type { CompleteStore, Standing } from '../../store.js'
import {
  attempt,
  type ContractCase,
  claimEvent,
  dead,
  delivery,
  event,
  failedFor,
  get,
  key,
  LEASE_MS,
  listAll,
  operate,
  range,
  record,
  recordEvent,
  rejects,
  settle,
  succeeded,
} from './support.js'

const HOUR_MS = 3_600_000

async function standing(store: CompleteStore, id: string): Promise<Standing | undefined> {
  const [found, ...more] = await store.inspect.standings([(await get(store, key(id))).seq])
  assert.deepEqual(more, [])
  return found
}

async function inLane(store: CompleteStore, ...ids: string[]): Promise<void> {
  for (const id of ids) await record(store, delivery(event(id, { reference: 'in_1', lane: 'in_1' })))
}

export const standingCases: readonly ContractCase[] = [
  {
    name: 'an event stands in the log as due, leased, failed or released, and not at all when it is finished',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'a')
      const due = (await standing(store, 'a'))!
      assert.ok(due.dueAt <= due.now, 'it is due')
      assert.deepEqual([due.lease, due.isReleased, due.before], [null, false, null])

      const claimed = await claimEvent(store, key('a'), { worker: 'w1' })
      const leased = (await standing(store, 'a'))!
      assert.equal(leased.lease?.worker, 'w1')
      assert.ok(Math.abs(leased.lease!.claimedAt - leased.now) < HOUR_MS)
      assert.equal(leased.isReleased, false)

      await settle(store, claimed.lease, failedFor(HOUR_MS))
      const failed = (await standing(store, 'a'))!
      assert.ok(failed.dueAt > failed.now + HOUR_MS / 2)
      assert.deepEqual([failed.lease, failed.isReleased], [null, false])

      await attempt(store, key('a'), dead)
      assert.equal(await standing(store, 'a'), undefined, 'a dead letter waits for nothing')
    },
  },
  {
    name: 'an event that was released stands so until it is claimed again, also after a failure',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'a')
      await attempt(store, key('a'), failedFor(1))
      await advance(1_000)
      const { lease } = await claimEvent(store, key('a'))
      assert.deepEqual(await store.release([lease], HOUR_MS), [true])
      const released = (await standing(store, 'a'))!
      assert.deepEqual([released.lease, released.isReleased], [null, true])
      assert.ok(released.dueAt > released.now)
      await advance(1_000)
      await attempt(store, key('a'), failedFor(HOUR_MS))
      assert.equal((await standing(store, 'a'))!.isReleased, false)
    },
  },
  {
    name: 'a lease that has expired is none',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'a')
      await claimEvent(store, key('a'))
      await advance(2 * LEASE_MS)
      assert.deepEqual(
        [(await standing(store, 'a'))!.lease, (await standing(store, 'a'))!.before],
        [null, null],
      )
    },
  },
  {
    name: 'an event of a lane stands behind the first of it, with the time at which that one is due',
    async run({ open }) {
      const store = await open()
      await inLane(store, 'a', 'b', 'c')
      await recordEvent(store, 'other')
      const { lease } = await claimEvent(store, key('a'))
      assert.deepEqual((await standing(store, 'c'))!.before, { id: 'a', dueAt: null }, 'it is being handled')
      await settle(store, lease, failedFor(HOUR_MS))
      const { dueAt } = (await standing(store, 'a'))!
      for (const id of ['b', 'c']) assert.deepEqual((await standing(store, id))!.before, { id: 'a', dueAt })
      for (const id of ['a', 'other']) assert.equal((await standing(store, id))!.before, null)
      await attempt(store, key('a'), succeeded)
      assert.equal((await standing(store, 'b'))!.before, null)
      assert.equal((await standing(store, 'c'))!.before?.id, 'b')
    },
  },
  {
    name: 'the first event of a lane stands behind a younger one that is being handled',
    async run({ open }) {
      const store = await open()
      await inLane(store, 'a', 'b')
      await attempt(store, key('a'), succeeded)
      await claimEvent(store, key('b'))
      assert.equal((await operate(store, 'replay', key('a'), { force: true })).done, true)
      assert.deepEqual((await standing(store, 'a'))!.before, { id: 'b', dueAt: null })
    },
  },
  {
    name: 'standings are read of many events at once, and only so many',
    async run({ open }) {
      const store = await open()
      await record(store, ...range(20).map((i) => delivery(`e${i}`)))
      const seqs = (await listAll(store)).map(({ seq }) => seq)
      const found = await store.inspect.standings([...seqs, 1e9])
      assert.deepEqual(found.map(({ seq }) => seq).sort(), seqs.sort())
      assert.deepEqual(await store.inspect.standings([]), [])
      await rejects(() => store.inspect.standings(range(limits.listPage + 1)), 'INVALID_INPUT')
    },
  },
  {
    name: 'the oldest unfinished events come first, whenever they are due',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'done')
      await inLane(store, 'failing', 'behind')
      await recordEvent(store, 'due')
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('failing'), failedFor(HOUR_MS))
      const ids = async (limit: number) => (await store.inspect.oldest(limit)).map(({ id }) => id)
      assert.deepEqual(await ids(10), ['failing', 'behind', 'due'])
      assert.deepEqual(await ids(2), ['failing', 'behind'])
      assert.deepEqual((await store.inspect.oldest(1))[0], await get(store, key('failing')))
      await rejects(() => store.inspect.oldest(0), 'INVALID_INPUT')
    },
  },
]
