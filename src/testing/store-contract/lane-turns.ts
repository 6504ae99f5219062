/** Lanes: which changes make the next event of a lane due, and which do not. */
import assert from 'node:assert/strict'
import type { NewDelivery, Outcome } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  type ContractCase,
  cannotClaim,
  chunks,
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
  recordEvent,
  settle,
  settleIn,
  succeeded,
} from './support.js'

/** Longer than a store may postpone an event that it found blocked. */
const PUSHED_BACK_MS = 10_000

function inLane(eventId: string, lane: string): NewDelivery {
  return delivery(event(eventId, { lane }))
}

const ids = async (store: CompleteStore) => (await claim(store)).map((c) => c.id)

const endings: readonly [string, Outcome][] = [
  ['succeeds', succeeded],
  ['is ignored', ignored],
  ['becomes a dead letter', dead],
]

export const laneTurnCases: readonly ContractCase[] = [
  ...endings.map(([ending, outcome]) => ({
    name: `the next event of a lane is due at once when the head ${ending}, also in a transaction`,
    async run({ open }: Parameters<ContractCase['run']>[0]) {
      const store = await open()
      await record(store, ...['a1', 'a2', 'a3'].map((id) => inLane(id, 'a')))
      const first = await claimEvent(store, key('a1'))
      assert.deepEqual(await ids(store), [], 'the others were looked at and found blocked')
      assert.equal(await settle(store, first.lease, outcome), true)
      const [second, ...more] = await claim(store)
      assert.deepEqual([second?.id, more.length], ['a2', 0])
      const transaction = await store.transaction()
      assert.equal(await settleIn(transaction, second!.lease, outcome), true)
      await transaction.commit()
      assert.deepEqual(await ids(store), ['a3'])
    },
  })),
  {
    name: 'a transaction that is rolled back does not make the next event of the lane due',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      const first = await claimEvent(store, key('a1'))
      const transaction = await store.transaction()
      assert.equal(await settleIn(transaction, first.lease, succeeded), true)
      await transaction.rollback()
      await advance(PUSHED_BACK_MS)
      assert.deepEqual(await ids(store), [])
      await cannotClaim(store, key('a2'))
    },
  },
  {
    name: 'an event that waits for its next attempt blocks its own lane only',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'), inLane('b1', 'b'), delivery('free'))
      await record(store, inLane('A1', 'A'), delivery(event('crm', { lane: 'a' }), { source: 'crm' }))
      await attempt(store, key('a1'), failedFor(60_000))
      assert.deepEqual((await ids(store)).sort(), ['A1', 'b1', 'crm', 'free'])
      await advance(30_000)
      assert.deepEqual(await ids(store), [])
      await cannotClaim(store, key('a2'))
    },
  },
  {
    name: 'an event released with a delay blocks its lane until it is due',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      const first = await claimEvent(store, key('a1'))
      assert.deepEqual(await store.release([first.lease], 60_000), [true])
      assert.deepEqual(await ids(store), [])
      await advance(30_000)
      assert.deepEqual(await ids(store), [])
      await advance(30_001)
      const [again, ...more] = await claim(store)
      assert.deepEqual([again?.id, again?.attempt, more.length], ['a1', 1, 0])
    },
  },
  {
    name: 'an order to ignore a whole lane leaves no event of it waiting',
    async run({ open, advance }) {
      const store = await open()
      await record(store, ...['a1', 'a2', 'a3', 'a4'].map((id) => inLane(id, 'a')))
      const events = ['a1', 'a2', 'a3'].map((id) => key(id))
      const results = await store.operate({ verb: 'ignore', events, actor: 'test', note: '' })
      assert.ok(results.every((result) => result.done))
      for (const event of events) assert.equal((await get(store, event)).state, 'ignored')
      await advance(PUSHED_BACK_MS)
      assert.deepEqual(await ids(store), ['a4'])
    },
  },
  {
    name: 'an event that an operator restarts comes before the later events of its lane',
    async run({ open, advance }) {
      const store = await open()
      await record(store, ...['a1', 'a2', 'a3'].map((id) => inLane(id, 'a')))
      await attempt(store, key('a1'), succeeded)
      await attempt(store, key('a2'), dead)
      assert.ok((await operate(store, 'retry', key('a2'))).done)
      assert.ok((await operate(store, 'replay', key('a1'), { force: true })).done)
      for (const id of ['a1', 'a2', 'a3']) {
        await advance(PUSHED_BACK_MS)
        const [next, ...more] = await claim(store)
        assert.deepEqual([next?.id, more.length], [id, 0])
        assert.equal(await settle(store, next!.lease, succeeded), true)
      }
    },
  },
  {
    name: 'an event that is replayed while a later event of its lane runs waits until that event has ended',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await attempt(store, key('a1'), succeeded)
      const later = await claimEvent(store, key('a2'))
      assert.ok((await operate(store, 'replay', key('a1'), { force: true })).done)
      assert.deepEqual(await ids(store), [], 'never two of a lane at once')
      await cannotClaim(store, key('a1'))
      assert.equal(await settle(store, later.lease, succeeded), true)
      await advance(PUSHED_BACK_MS)
      assert.deepEqual(await ids(store), ['a1'])
    },
  },
  {
    name: 'an expired lease stays expired when a claim finds its event blocked by its lane',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await attempt(store, key('a1'), succeeded)
      const lost = await claimEvent(store, key('a2'))
      assert.ok((await operate(store, 'replay', key('a1'), { force: true })).done)
      await advance(LEASE_MS + PUSHED_BACK_MS)
      const [first, ...more] = await claim(store)
      assert.deepEqual([first?.id, more.length], ['a1', 0])
      assert.equal((await get(store, key('a2'))).state, 'pending')
      assert.deepEqual(await store.extend([lost.lease], LEASE_MS), [false])
      assert.equal(await settle(store, lost.lease, succeeded), false)
      assert.equal(await settle(store, first!.lease, succeeded), true)
      await advance(PUSHED_BACK_MS)
      assert.deepEqual(
        (await claim(store)).map((c) => [c.id, c.attempt]),
        [['a2', 2]],
      )
      assert.deepEqual(
        (await store.inspect.attempts(key('a2'))).map((a) => a.outcome),
        ['lost'],
      )
    },
  },
  {
    name: 'the end of the head does not shorten the wait of an event for its own next attempt',
    async run({ open, advance }) {
      const store = await open()
      await record(store, inLane('a1', 'a'), inLane('a2', 'a'))
      await attempt(store, key('a1'), succeeded)
      await attempt(store, key('a2'), failedFor(60_000))
      const { nextAttemptAt } = await get(store, key('a2'))
      assert.ok((await operate(store, 'replay', key('a1'), { force: true })).done)
      await attempt(store, key('a1'), succeeded)
      assert.deepEqual(await ids(store), [])
      assert.equal((await get(store, key('a2'))).nextAttemptAt, nextAttemptAt)
      await advance(60_001)
      assert.deepEqual(await ids(store), ['a2'])
    },
  },
  {
    name: 'an event that an operator ignores in the middle of a lane is skipped',
    async run({ open }) {
      const store = await open()
      await record(store, ...['a1', 'a2', 'a3'].map((id) => inLane(id, 'a')))
      const first = await claimEvent(store, key('a1'))
      assert.ok((await operate(store, 'ignore', key('a2'))).done)
      assert.deepEqual(await ids(store), [])
      assert.equal(await settle(store, first.lease, succeeded), true)
      assert.deepEqual(await ids(store), ['a3'])
    },
  },
  {
    name: 'a long queue behind one event does not hide due events of other lanes',
    async run({ open, advance }) {
      const store = await open()
      await record(store, ...range(500).map((i) => inLane(`a${i}`, 'a')))
      await attempt(store, key('a0'), failedFor(600_000))
      await advance(10)
      await record(store, ...range(3).map((i) => delivery(`free ${i}`)))
      await recordEvent(store, 'other', { source: 'crm' })
      const taken: string[] = []
      for (let claimed = await claim(store, { limit: 2 }); claimed.length > 0; ) {
        taken.push(...claimed.map((c) => c.id))
        claimed = await claim(store, { limit: 2 })
      }
      assert.deepEqual(taken.sort(), ['free 0', 'free 1', 'free 2', 'other'])
    },
  },
  {
    name: '200 lanes of 20 events are processed by many workers, each lane in order and one event at a time',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      const total = 4_000
      const laneOf = (eventId: string) => Number(eventId.slice(1)) % 200
      const deliveries = range(total).map((i) => inLane(`e${i}`, `lane ${i % 200}`))
      for (const batch of chunks(deliveries, 1_000)) await record(stores[0]!, ...batch)
      const running = new Set<number>()
      const order = range(200).map((): number[] => [])
      let left = total
      const giveUpAt = Date.now() + 25_000
      const worker = async (n: number) => {
        const store = stores[n % 2]!
        while (left > 0 && Date.now() < giveUpAt) {
          const claimed = await claim(store, { limit: 40, worker: `w${n}` })
          for (const { id: eventId, lease } of claimed) {
            const lane = laneOf(eventId)
            assert.ok(!running.has(lane), `lane ${lane} gave two events at once`)
            running.add(lane)
            order[lane]!.push(lease.seq)
          }
          await new Promise((resolve) => setTimeout(resolve, claimed.length === 0 ? 5 : 1))
          // Noted before the write: another worker may claim the next event before this call returns.
          for (const { id: eventId } of claimed) running.delete(laneOf(eventId))
          const done = await store.settle(
            claimed.map(({ lease }) => ({ lease, outcome: succeeded, durationMs: 1 })),
          )
          assert.ok(done.every(Boolean), 'every lease was alive')
          left -= claimed.length
        }
      }
      await Promise.all(range(8).map(worker))
      assert.equal(left, 0, 'every event was handled')
      for (const seqs of order) {
        assert.equal(new Set(seqs).size, 20)
        assert.deepEqual(
          seqs,
          [...seqs].sort((a, b) => a - b),
          'in order',
        )
      }
    },
  },
]
