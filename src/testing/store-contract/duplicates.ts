/** What comes back: counting, conflicts, and known bytes under a new id. */
import assert from 'node:assert/strict'
import type { EventRecord, NewDelivery } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import {
  attempt,
  bytes,
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
  recordOne,
  sha256,
  succeeded,
} from './support.js'

const hex = (text: string) => Buffer.from(sha256(text)).toString('hex')

/** A delivery of `id` whose content is `content`. */
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
      await recordOne(store, 'a')
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
      await recordOne(store, 'a')
      await record(store, delivery('a'), saying('a', 'other'))
      await store.close()
      const found = await get(await open(), key('a'))
      assert.equal(found.deliveries, 3)
      assert.equal(found.conflicts, 1)
    },
  },
  {
    name: 'two stores count the duplicates of one event together',
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      await recordOne(one, 'a')
      await Promise.all(range(10).flatMap(() => [record(one, delivery('a')), record(two, delivery('a'))]))
      await Promise.all([flush(one), flush(two)])
      assert.equal((await get(one, key('a'))).deliveries, 21)
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
        const of = await recordOne(store, id)
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
    name: 'the same id with other bytes is a conflict: the first stays, the other is noted',
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
    name: 'a conflict inside one batch is seen',
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
    name: 'of two concurrent deliveries with other bytes one is recorded and the other is a conflict',
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
    name: 'where a sender changes the bytes on each retry (no content hash), nothing is a conflict',
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
        claimed.map((c) => c.eventId),
        ['real'],
      )
    },
  },
  {
    name: 'known signed bytes under a new id are not written at all where the policy is to reject',
    async run({ open }) {
      const store = await open()
      await record(store, guarded('real', 'signed bytes'))
      const [verdict] = await record(
        store,
        guarded('forged', 'signed bytes', { onReplayedContent: 'reject' }),
      )
      assert.deepEqual(verdict, { status: 'replayed' })
      assert.equal(await store.get(key('forged')), null)
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'the same bytes under the same id are a plain duplicate',
    async run({ open }) {
      const store = await open()
      for (const onReplayedContent of ['review', 'reject'] as const) {
        await record(store, guarded(onReplayedContent, onReplayedContent, { onReplayedContent }))
        const [verdict] = await record(
          store,
          guarded(onReplayedContent, onReplayedContent, { onReplayedContent }),
        )
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
    name: 'of many ids rejected for their bytes, one is recorded and the rest are "replayed"',
    async run({ open }) {
      const store = await open()
      const policy = { onReplayedContent: 'reject' } as const
      const verdicts = await record(store, ...range(50).map((i) => guarded(`e${i}`, 'one body', policy)))
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ['recorded', ...range(49).map(() => 'replayed')],
      )
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'the guard of one source says nothing about another',
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
    name: 'a conflict registers no guard: the bytes it brought are still welcome under their own id',
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
