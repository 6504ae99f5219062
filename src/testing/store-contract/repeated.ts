/** Duplicates that were answered without asking the store are counted all the same. */
import assert from 'node:assert/strict'
import type { RecordVerdict } from '../../model.js'
import type { ContractCase } from './harness.js'
import { delivery, get, key, range, record, recordOne, rejects } from './support.js'

function seqOf(verdict: RecordVerdict | undefined): number {
  assert.ok(verdict?.status === 'recorded')
  return verdict.seq
}

export const repeatedCases: readonly ContractCase[] = [
  {
    name: 'a duplicate answered elsewhere is counted with those the store has seen itself',
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
    name: 'a store that has only been told of duplicates writes them, also when it is closed',
    async run({ open }) {
      const one = await open()
      const [two, three] = [await open({ migrate: false }), await open({ migrate: false })]
      const [verdict] = await record(one, delivery('a'))
      const at = Date.now()
      for (const _ of range(10)) two.duplicates.count([{ seq: seqOf(verdict), at }])
      await two.duplicates.flush()
      assert.equal((await get(one, key('a'))).deliveries, 11)
      three.duplicates.count([{ seq: seqOf(verdict), at }])
      await three.close()
      assert.equal((await get(one, key('a'))).deliveries, 12)
    },
  },
  {
    name: 'a duplicate of an event that is gone is forgotten and spoils no other count',
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
    name: 'what is no seq or no time is refused, and nothing of that call is counted',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'a')
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
