/** `record` with a claim: new events are recorded under a lease. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { NewDelivery, NewEvent, RecordClaim, RecordVerdict } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  type ContractCase,
  claim,
  claimEvent,
  delivery,
  event,
  failedFor,
  get,
  key,
  LEASE_MS,
  openSeveral,
  range,
  record,
  rejects,
  SOURCE,
  settle,
  succeeded,
} from './support.js'

const WORKER = 'receiver'

function claimOf(...deliveries: readonly NewDelivery[]): RecordClaim {
  const tokens = new Map(
    deliveries.flatMap(({ events }) => events.map((one) => [one, randomUUID()] as const)),
  )
  return { worker: WORKER, leaseMs: LEASE_MS, tokens }
}

/** Records the deliveries, each event with a token, and returns the tokens of those that were leased. */
async function recordWithTokens(
  store: CompleteStore,
  ...deliveries: readonly NewDelivery[]
): Promise<Map<string, { seq: number; token: string }>> {
  const claim = claimOf(...deliveries)
  const verdicts = await store.record(deliveries, claim)
  const events = deliveries.flatMap((one) => one.events)
  return new Map(verdicts.flat().flatMap((verdict, i) => leased(events[i]!, verdict, claim)))
}

function leased(one: NewEvent, verdict: RecordVerdict, { tokens }: RecordClaim) {
  if (verdict.status !== 'recorded' || verdict.leasedAt === undefined) return []
  return [[one.id, { seq: verdict.seq, token: tokens.get(one)! }] as const]
}

const inLane = (eventId: string, lane = 'a') => delivery(event(eventId, { lane }))
const guarded = (eventId: string, content: string) =>
  delivery(event(eventId, { guardHash: createHash('sha256').update(content).digest() }))

export const recordClaimCases: readonly ContractCase[] = [
  {
    name: 'an event that is recorded with a token is leased: its attempt is counted, and no claim finds it',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const sent = delivery('evt')
      const claimed = claimOf(sent)
      const [[verdict]] = (await store.record([sent], claimed)) as [[RecordVerdict]]
      assert.ok(verdict.status === 'recorded' && verdict.leasedAt !== undefined, 'it is leased')
      assert.equal(verdict.state, 'pending')
      const found = await get(store, key('evt'))
      assert.deepEqual([found.state, found.attempts], ['processing', 1])
      assert.equal(verdict.leasedAt, found.receivedAt, 'the time is that of the record')
      assert.deepEqual(await claim(store), [])
      const lease = { seq: verdict.seq, token: claimed.tokens.get(sent.events[0]!)! }
      assert.deepEqual(await store.extend([lease], LEASE_MS), [true])
      assert.equal(await settle(store, lease, succeeded), true)
      assert.equal((await get(store, key('evt'))).state, 'succeeded')
      const [first, ...more] = await store.inspect.attempts(key('evt'))
      assert.deepEqual(
        [first?.attempt, first?.worker, first?.outcome, more.length],
        [1, WORKER, 'succeeded', 0],
      )
    },
  },
  {
    name: 'events of a batch with and without a token, alone or with others in their delivery, are leased as asked',
    async run({ open }) {
      const store = await open()
      const deliveries = [
        delivery('p1'),
        delivery('p2'),
        delivery('p3'),
        delivery([event('m1'), event('m2')]),
        guarded('g1', 'one'),
        inLane('l1'),
      ]
      const { tokens, ...by } = claimOf(...deliveries)
      const wanted = ['p2', 'm2', 'g1', 'l1']
      const verdicts = await store.record(deliveries, {
        ...by,
        tokens: new Map([...tokens].filter(([{ id }]) => wanted.includes(id))),
      })
      const events = deliveries.flatMap((one) => one.events)
      const found = verdicts.flat().flatMap((verdict, i) => leased(events[i]!, verdict, { tokens, ...by }))
      assert.deepEqual(
        found.map(([id]) => id),
        wanted,
      )
      assert.deepEqual((await claim(store)).map(({ id }) => id).sort(), ['m1', 'p1', 'p3'])
      for (const [, lease] of found) assert.equal(await settle(store, lease, succeeded), true)
    },
  },
  {
    name: 'the lease of a record ends as any other: the attempt is lost, and the event is claimed again',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      const lease = (await recordWithTokens(store, delivery('evt'))).get('evt')!
      await advance(LEASE_MS + 1)
      const again = await claimEvent(store, key('evt'))
      assert.deepEqual([again.attempt, again.tries, again.losses], [2, 2, 1])
      assert.equal(await settle(store, lease, succeeded), false, 'the lease of the record is over')
      const [lost] = await store.inspect.attempts(key('evt'))
      assert.deepEqual([lost?.attempt, lost?.worker, lost?.outcome], [1, WORKER, 'lost'])
    },
  },
  {
    name: 'a lease of a record that is released has used up no attempt',
    async run({ open }) {
      const store = await open()
      const lease = (await recordWithTokens(store, delivery('evt'))).get('evt')!
      assert.deepEqual(await store.release([lease]), [true])
      assert.deepEqual(
        [(await get(store, key('evt'))).state, await settle(store, lease, succeeded)],
        ['pending', false],
      )
      const again = await claimEvent(store, key('evt'))
      assert.deepEqual([again.attempt, again.losses], [1, 0])
    },
  },
  {
    name: 'a record leases no event that is known, repeated in the batch or withheld',
    async run({ open }) {
      const store = await open()
      await record(store, delivery('known'), guarded('first', 'content'))
      const rejecting = { ...guarded('third', 'content'), contentGuard: 'reject' as const }
      const twice = [delivery('twice'), delivery('twice')]
      const found = await recordWithTokens(
        store,
        delivery('known'),
        guarded('second', 'content'),
        rejecting,
        ...twice,
      )
      assert.deepEqual([...found.keys()], ['twice'])
      assert.equal((await get(store, key('second'))).state, 'ignored')
      assert.deepEqual((await claim(store)).map(({ id }) => id).sort(), ['first', 'known'])
      assert.equal(await settle(store, found.get('twice')!, succeeded), true)
    },
  },
  {
    name: 'a record leases an event of a lane only as its head',
    async run({ open, advance }) {
      const store = await open()
      const first = await recordWithTokens(store, inLane('a1'), inLane('a2'), inLane('b1', 'b'))
      assert.deepEqual([...first.keys()], ['a1', 'b1'])
      assert.equal((await recordWithTokens(store, inLane('a3'))).size, 0, 'the head is leased')
      assert.deepEqual(await claim(store), [])
      assert.equal(await settle(store, first.get('a1')!, succeeded), true)
      await attempt(store, key('a2'), failedFor(60_000))
      assert.equal(
        (await recordWithTokens(store, inLane('a4'))).size,
        0,
        'the head waits for its next attempt',
      )
      await advance(60_001)
      for (const id of ['a2', 'a3', 'a4']) await attempt(store, key(id), succeeded)
      assert.deepEqual([...(await recordWithTokens(store, inLane('a5'))).keys()], ['a5'], 'the lane is empty')
    },
  },
  {
    name: 'records and claims at the same time never lease two events of one lane',
    async run(harness) {
      const stores = await openSeveral(harness, 4)
      for (const round of range(12)) {
        const lanes = range(8).map((lane) => `${round} ${lane}`)
        const leasedIds = await Promise.all(
          stores.map(async (store, i) => {
            const deliveries = lanes.map((lane) => inLane(`${lane} ${i}`, lane))
            // One of them records without a claim: its events are for the claims of all.
            if (i === 0) await store.record(deliveries)
            const own = i === 0 ? [] : (await recordWithTokens(store, ...deliveries)).keys()
            return [...own, ...(await claim(store)).map(({ id }) => id)]
          }),
        )
        const held = leasedIds.flat().map((id) => id.slice(0, id.lastIndexOf(' ')))
        assert.deepEqual(
          held.filter((lane, i) => held.indexOf(lane) !== i),
          [],
          'lanes with two leases',
        )
      }
    },
  },
  {
    name: 'a record refuses a claim with a malformed token, worker or lease',
    async run({ open }) {
      const store = await open()
      const sent = delivery('evt')
      const good = claimOf(sent)
      const malformed: RecordClaim[] = [
        { ...good, tokens: new Map([[sent.events[0]!, 'no uuid']]) },
        { ...good, worker: '' },
        { ...good, leaseMs: 0 },
      ]
      for (const bad of malformed) await rejects(() => store.record([sent], bad), 'INVALID_INPUT')
      assert.equal(await store.get({ source: SOURCE, id: 'evt' }), null)
    },
  },
]
