/** Duplicates: counts, conflicts, known bytes under a new id, and the counts of the `duplicates` capability. */
import assert from 'node:assert/strict'
import type { EventRecord, NewDelivery, RecordVerdict } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  dead,
  delivery,
  event,
  failedFor,
  flush,
  get,
  ignored,
  key,
  LONG_AFTER_MS,
  listAll,
  range,
  record,
  recordEvent,
  rejects,
  sha256,
  succeeded,
} from './support.js'

const hex = (text: string) => Buffer.from(sha256(text)).toString('hex')

function saying(id: string, content: string | null): NewDelivery {
  return delivery(event(id, { contentHash: content === null ? null : sha256(content) }), {
    body: bytes(content ?? 'changes on each retry'),
  })
}

/** A delivery whose signature covers its bytes but not its id. */
function guarded(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(id, { contentHash: sha256(content), guardHash: sha256(content) }), {
    body: bytes(content),
    ...more,
  })
}

async function flushed(store: CompleteStore, id: string): Promise<EventRecord> {
  await flush(store)
  return get(store, key(id))
}

export const duplicateCases: readonly ContractCase[] = [
  {
    name: 'duplicates are counted, with the time of the last one',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'a')
      await advance(LONG_AFTER_MS)
      for (const _ of range(3)) await record(store, delivery('a'), delivery('a'))
      const found = await flushed(store, 'a')
      assert.equal(found.deliveries, 7)
      assert.equal(found.conflicts, 0)
      assert.ok(found.lastDeliveryAt >= found.receivedAt + LONG_AFTER_MS, 'the last one came later')
    },
  },
  {
    name: 'closing a store writes the duplicates it has seen',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'a')
      await record(store, delivery('a'), saying('a', 'other'))
      await store.close()
      const found = await get(await open(), key('a'))
      assert.equal(found.deliveries, 3)
      assert.equal(found.conflicts, 1)
    },
  },
  {
    name: 'the duplicates that two stores count for one event are added up',
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      await recordEvent(storeA, 'a')
      await Promise.all(
        range(10).flatMap(() => [record(storeA, delivery('a')), record(storeB, delivery('a'))]),
      )
      await Promise.all([flush(storeA), flush(storeB)])
      assert.equal((await get(storeA, key('a'))).deliveries, 21)
    },
  },
  {
    name: 'a duplicate changes neither the state nor the attempts of an event, whatever its state',
    async run({ open }) {
      const store = await open()
      const expected = [
        { id: 'pending', outcome: null, state: 'pending', final: false },
        { id: 'succeeded', outcome: succeeded, state: 'succeeded', final: true },
        { id: 'ignored', outcome: ignored, state: 'ignored', final: true },
        { id: 'retrying', outcome: failedFor(60_000), state: 'failed', final: false },
        { id: 'dead', outcome: dead, state: 'failed', final: true },
      ] as const
      for (const { id, outcome, state, final } of expected) {
        const of = await recordEvent(store, id)
        if (outcome) await attempt(store, of, outcome)
        const before = await get(store, of)
        const [verdict] = await record(store, delivery(id))
        assert.deepEqual(verdict, { status: 'duplicate', seq: before.seq, state, final, equal: true })
        const after = await flushed(store, id)
        assert.deepEqual(after, { ...before, deliveries: 2, lastDeliveryAt: after.lastDeliveryAt })
      }
    },
  },
  {
    name: 'the same id with other bytes is a conflict: the first content stays and the conflict is counted',
    needs: ['inspect'],
    async run({ open }) {
      for (const [first, second] of [
        ['this', 'that'],
        ['that', 'this'],
      ] as const) {
        const store = await open()
        const id = `${first} first`
        await record(store, saying(id, first))
        const [verdict] = await record(store, saying(id, second))
        assert.equal(verdict?.status, 'duplicate')
        assert.equal(verdict.equal, false)
        const found = await flushed(store, id)
        assert.equal(found.conflicts, 1)
        assert.equal(found.deliveries, 2)
        assert.equal(found.contentHash, hex(first))
        assert.equal(found.lastConflict?.hash, hex(second))
        assert.ok((found.lastConflict?.at ?? 0) >= found.receivedAt)
        assert.deepEqual(
          Buffer.from((await store.inspect.payload(key(id)))?.body ?? []),
          Buffer.from(first),
          'the payload of the first stays',
        )
        const [again] = await record(store, saying(id, first))
        assert.ok(again?.status === 'duplicate' && again.equal, 'the first bytes are still the right ones')
      }
    },
  },
  {
    name: 'a conflict inside one batch is detected',
    async run({ open }) {
      const store = await open()
      const verdicts = await record(store, saying('a', 'this'), saying('a', 'that'), saying('a', 'this'))
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'duplicate' ? v.equal : v.status)),
        ['recorded', false, true],
      )
      const found = await flushed(store, 'a')
      assert.deepEqual([found.deliveries, found.conflicts], [3, 1])
      assert.equal(found.contentHash, hex('this'))
    },
  },
  {
    name: 'two concurrent deliveries of one id with other bytes are one recorded event and one conflict',
    async run({ open }) {
      const stores = [await open(), await open()]
      for (const i of range(20)) {
        const contents = ['this', 'that']
        const verdicts = await Promise.all(
          contents.map(async (content, n) => (await record(stores[n]!, saying(`e${i}`, content)))[0]!),
        )
        const winner = verdicts.findIndex((v) => v.status === 'recorded')
        const loser = verdicts[1 - winner]
        assert.ok(loser?.status === 'duplicate' && !loser.equal, JSON.stringify(verdicts))
        assert.equal((await get(stores[0]!, key(`e${i}`))).contentHash, hex(contents[winner]!))
      }
    },
  },
  {
    name: 'an event without a content hash (its sender changes the bytes on each retry) is never a conflict',
    async run({ open }) {
      const store = await open()
      await record(store, saying('a', null), saying('b', 'this'), saying('c', null))
      const verdicts = await record(store, saying('a', null), saying('b', null), saying('c', 'that'))
      assert.deepEqual(
        verdicts.map((v) => v.status === 'duplicate' && v.equal),
        [true, true, true],
      )
      for (const id of ['a', 'b', 'c']) assert.equal((await flushed(store, id)).conflicts, 0)
      assert.equal((await get(store, key('a'))).contentHash, null)
    },
  },
  {
    name: 'known signed bytes under a new id go to the review list, not to a handler',
    async run({ open }) {
      const store = await open()
      await record(store, guarded('real', 'signed bytes'))
      const [verdict] = await record(store, guarded('forged', 'signed bytes'))
      assert.ok(verdict?.status === 'recorded')
      assert.equal(verdict.state, 'ignored')
      const found = await get(store, key('forged'))
      assert.deepEqual([found.state, found.reason], ['ignored', 'replayed_content'])
      const claimed = await store.claim({ worker: 'w', limit: 10, leaseMs: 1_000 })
      assert.deepEqual(
        claimed.map((c) => c.id),
        ['real'],
      )
    },
  },
  {
    name: 'known signed bytes under a new id are not written at all where the policy is to reject',
    async run({ open }) {
      const store = await open()
      await record(store, guarded('real', 'signed bytes'))
      const [verdict] = await record(store, guarded('forged', 'signed bytes', { contentGuard: 'reject' }))
      assert.deepEqual(verdict, { status: 'replayed' })
      assert.equal(await store.get(key('forged')), null)
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'the same bytes under the same id are a plain duplicate',
    async run({ open }) {
      const store = await open()
      for (const contentGuard of ['review', 'reject'] as const) {
        await record(store, guarded(contentGuard, contentGuard, { contentGuard }))
        const [verdict] = await record(store, guarded(contentGuard, contentGuard, { contentGuard }))
        assert.ok(verdict?.status === 'duplicate' && verdict.equal && verdict.state === 'pending')
      }
    },
  },
  {
    name: 'one body replayed under many ids in a batch and from many writers is pending once',
    async run({ open }) {
      const stores = [await open(), await open()]
      const batch = range(200).map((i) => guarded(`batch ${i}`, 'one body'))
      const inBatch = await record(stores[0]!, ...batch)
      const concurrent = await Promise.all(
        range(40).map(async (i) => (await record(stores[i % 2]!, guarded(`own ${i}`, 'another body')))[0]!),
      )
      for (const verdicts of [inBatch, concurrent]) {
        const found = verdicts.map((v) => (v.status === 'recorded' ? v.state : v.status))
        assert.equal(found.filter((s) => s === 'pending').length, 1)
        assert.equal(found.filter((s) => s === 'ignored').length, verdicts.length - 1)
      }
      assert.equal((await listAll(stores[0]!, { reason: 'replayed_content' })).length, 199 + 39)
    },
  },
  {
    name: 'many ids with the same signed bytes, under the policy reject, are one "recorded" and the rest "replayed"',
    async run({ open }) {
      const store = await open()
      const policy = { contentGuard: 'reject' } as const
      const verdicts = await record(store, ...range(50).map((i) => guarded(`e${i}`, 'one body', policy)))
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ['recorded', ...range(49).map(() => 'replayed')],
      )
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'the guard of one source does not affect another source',
    async run({ open }) {
      const store = await open()
      const verdicts = await record(
        store,
        guarded('a', 'signed bytes', { source: 'one' }),
        guarded('b', 'signed bytes', { source: 'two' }),
      )
      assert.deepEqual(
        verdicts.map((v) => v.status === 'recorded' && v.state),
        ['pending', 'pending'],
      )
    },
  },
  {
    name: 'a conflict registers no guard: its bytes are still recorded under their own id',
    async run({ open }) {
      const store = await open()
      await record(store, guarded('a', 'first'))
      await record(store, guarded('a', 'second'))
      const [verdict] = await record(store, guarded('b', 'second'))
      assert.ok(verdict?.status === 'recorded')
      assert.equal(verdict.state, 'pending')
      const batch = await record(store, guarded('c', 'third'), guarded('c', 'fourth'), guarded('d', 'fourth'))
      assert.deepEqual(
        batch.map((v) => (v.status === 'recorded' ? v.state : v.status)),
        ['pending', 'duplicate', 'pending'],
      )
    },
  },
  {
    name: 'a refused delivery registers no guard',
    async run({ open }) {
      const store = await open()
      const verdicts = await record(store, guarded('', 'signed bytes'), guarded('real', 'signed bytes'))
      assert.equal(verdicts[0]?.status, 'refused')
      assert.ok(verdicts[1]?.status === 'recorded' && verdicts[1].state === 'pending')
    },
  },
]

function seqOf(verdict: RecordVerdict | undefined): number {
  assert.ok(verdict?.status === 'recorded')
  return verdict.seq
}

export const repeatedCases: readonly ContractCase[] = [
  {
    name: 'a duplicate answered without the store is counted together with those that `record` found',
    async run({ open }) {
      const store = await open()
      const [verdict] = await record(store, delivery('a'))
      await record(store, delivery('a'))
      const { receivedAt } = await get(store, key('a'))
      const seq = seqOf(verdict)
      store.duplicates.count([
        { seq, at: receivedAt + 50_000 },
        { seq, at: receivedAt + 90_000 },
      ])
      store.duplicates.count([{ seq, at: receivedAt + 70_000 }])
      await store.duplicates.flush()
      const found = await get(store, key('a'))
      assert.deepEqual([found.deliveries, found.conflicts, found.lastConflict], [5, 0, null])
      assert.equal(found.lastDeliveryAt, receivedAt + 90_000)
    },
  },
  {
    name: 'a store whose only calls were `duplicates.count` writes the counts, also on close',
    async run({ open }) {
      const storeA = await open()
      const [storeB, three] = [await open({ migrate: false }), await open({ migrate: false })]
      const [verdict] = await record(storeA, delivery('a'))
      const at = Date.now()
      for (const _ of range(10)) storeB.duplicates.count([{ seq: seqOf(verdict), at }])
      await storeB.duplicates.flush()
      assert.equal((await get(storeA, key('a'))).deliveries, 11)
      three.duplicates.count([{ seq: seqOf(verdict), at }])
      await three.close()
      assert.equal((await get(storeA, key('a'))).deliveries, 12)
    },
  },
  {
    name: 'a duplicate of a removed event is dropped, and the other counts stay right',
    async run({ open }) {
      const store = await open()
      const [verdict] = await record(store, delivery('a'))
      const seq = seqOf(verdict)
      store.duplicates.count([
        { seq: seq + 1_000, at: Date.now() },
        { seq, at: Date.now() },
      ])
      store.duplicates.count([])
      await store.duplicates.flush()
      assert.equal((await get(store, key('a'))).deliveries, 2)
    },
  },
  {
    name: 'an invalid seq or time is refused, and nothing of that call is counted',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'a')
      const { seq } = await get(store, key('a'))
      for (const bad of [
        { seq: 0, at: 1 },
        { seq: 1.5, at: 1 },
        { seq: Number.NaN, at: 1 },
        { seq, at: -1 },
        { seq, at: Number.NaN },
      ]) {
        await rejects(() => store.duplicates.count([{ seq, at: 1 }, bad]), 'INVALID_INPUT')
      }
      await store.duplicates.flush()
      assert.equal((await get(store, key('a'))).deliveries, 1)
    },
  },
]
