/** Watermarks: how far a subject has come. They move forward only, and with the handler's transaction. */
import assert from 'node:assert/strict'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import { attempt, DAY_MS, openSeveral, range, recordOne, rejects, SOURCE, succeeded } from './support.js'

async function advanceTo(
  store: CompleteStore,
  value: number,
  key = 'order 1',
  source = SOURCE,
): Promise<boolean> {
  const transaction = await store.transaction()
  const moved = await transaction.keys!.advance({ source, key, value })
  await (moved ? transaction.commit() : transaction.rollback())
  return moved
}

export const watermarkCases: readonly ContractCase[] = [
  {
    name: 'a watermark moves forward, stands still for an equal value, and never goes back',
    async run({ open }) {
      const store = await open()
      const at = () => store.keys.watermark(SOURCE, 'order 1')
      assert.equal(await at(), null)
      for (const [value, moved, then] of [
        [5, true, 5],
        [4, false, 5],
        [5, true, 5],
        [1_700_000_000_123, true, 1_700_000_000_123],
        [6, false, 1_700_000_000_123],
      ] as const) {
        assert.equal(await advanceTo(store, value), moved, `to ${value}`)
        assert.equal(await at(), then)
      }
    },
  },
  {
    name: 'a watermark may be any number',
    async run({ open }) {
      const store = await open()
      for (const value of [-1.5, 0, 0.25, Number.MAX_SAFE_INTEGER]) {
        assert.equal(await advanceTo(store, value), true)
        assert.equal(await store.keys.watermark(SOURCE, 'order 1'), value)
      }
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
        const transaction = await store.transaction()
        await rejects(() => transaction.keys!.advance({ source: SOURCE, key: 'k', value }), 'INVALID_INPUT')
        await transaction.rollback()
      }
    },
  },
  {
    name: 'a watermark moved in a transaction that is rolled back has not moved',
    async run({ open }) {
      const store = await open()
      await advanceTo(store, 1)
      const transaction = await store.transaction()
      assert.equal(await transaction.keys!.advance({ source: SOURCE, key: 'order 1', value: 9 }), true)
      assert.equal(await transaction.keys!.advance({ source: SOURCE, key: 'order 1', value: 8 }), false)
      await transaction.rollback()
      assert.equal(await store.keys.watermark(SOURCE, 'order 1'), 1)
    },
  },
  {
    name: 'watermarks are told apart by source and key',
    async run({ open }) {
      const store = await open()
      await advanceTo(store, 9, 'order 1')
      assert.equal(await advanceTo(store, 1, 'Order 1'), true)
      assert.equal(await advanceTo(store, 1, 'order 1', 'crm'), true)
      assert.equal(await store.keys.watermark(SOURCE, 'order 1'), 9)
    },
  },
  {
    name: 'of many transactions that move one watermark the furthest wins, and no later one was let through behind it',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      const moved: number[] = []
      await Promise.all(
        range(20).map(async (i) => {
          if (await advanceTo(stores[i % 2]!, (i * 7) % 20)) moved.push((i * 7) % 20)
        }),
      )
      assert.equal(await stores[0]!.keys.watermark(SOURCE, 'order 1'), 19)
      assert.ok(moved.includes(19))
    },
  },
  {
    name: 'a watermark outlives the events it was moved by',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      const of = await recordOne(store, 'old', { receivedAt: 1_000 })
      await attempt(store, of, succeeded)
      await advanceTo(store, 7)
      const horizon = Date.now() - DAY_MS
      await store.retention.prune({
        source: SOURCE,
        limit: 100,
        payloadsBefore: horizon,
        eventsBefore: horizon,
      })
      assert.equal(await store.get(of), null)
      assert.equal(await store.keys.watermark(SOURCE, 'order 1'), 7)
      assert.equal(await advanceTo(store, 6), false)
    },
  },
]
