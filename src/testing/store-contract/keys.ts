/** Idempotency keys of `once(key, fn)`, and watermarks. */
import assert from 'node:assert/strict'
import type { CompleteStore, KeyState } from '../../store.js'
import {
  attempt,
  type ContractCase,
  DAY_MS,
  LEASE_MS,
  openSeveral,
  range,
  recordEvent,
  rejects,
  SOURCE,
  succeeded,
} from './support.js'

const take = (store: CompleteStore, key = 'k', leaseMs = LEASE_MS) =>
  store.keys.key({ step: 'take', key, leaseMs })
const finish = (
  store: CompleteStore,
  token: string,
  result: string,
  ttlMs: number | null = null,
  key = 'k',
) => store.keys.key({ step: 'finish', key, token, result, ttlMs })
const drop = (store: CompleteStore, token: string, key = 'k') => store.keys.key({ step: 'drop', key, token })
const extend = (store: CompleteStore, token: string, leaseMs = LEASE_MS, key = 'k') =>
  store.keys.key({ step: 'extend', key, token, leaseMs })

function token(state: KeyState): string {
  assert.ok(state.state === 'taken', `taken, not ${state.state}`)
  return state.token
}

export const keyCases: readonly ContractCase[] = [
  {
    name: 'a finished key returns its result to every later caller',
    async run(harness) {
      const [storeA, storeB] = await openSeveral(harness, 2)
      const ownToken = token(await take(storeA!))
      assert.deepEqual(await finish(storeA!, ownToken, '{"id":7}'), { state: 'ok' })
      for (const store of [storeA!, storeB!]) {
        assert.deepEqual(await take(store), { state: 'finished', result: '{"id":7}' })
      }
      await harness.advance(1_000 * LEASE_MS)
      assert.deepEqual(
        await take(storeA!),
        { state: 'finished', result: '{"id":7}' },
        'null keeps it for good',
      )
    },
  },
  {
    name: 'a taken key is busy for every other caller',
    async run(harness) {
      const [storeA, storeB] = await openSeveral(harness, 2)
      const ownToken = token(await take(storeA!))
      assert.deepEqual(await take(storeB!), { state: 'busy' })
      await harness.advance(LEASE_MS - 30_000)
      assert.equal((await take(storeB!)).state, 'busy')
      assert.deepEqual(await extend(storeA!, ownToken), { state: 'ok' })
      await harness.advance(LEASE_MS - 20_000)
      assert.equal((await take(storeB!)).state, 'busy', 'extended')
    },
  },
  {
    name: 'a key that many callers take at once goes to one of them',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      for (const i of range(10)) {
        const states = await Promise.all(range(8).map((n) => take(stores[n % 2]!, `k${i}`)))
        assert.equal(states.filter((s) => s.state === 'taken').length, 1)
        assert.equal(states.filter((s) => s.state === 'busy').length, 7)
      }
    },
  },
  {
    name: 'a key whose token expired can be taken, and the old token is fenced',
    async run({ open, advance }) {
      const store = await open()
      const old = token(await take(store))
      await advance(LEASE_MS + 1)
      assert.deepEqual(await extend(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, old, 'late'), { state: 'fenced' })
      const ownToken = token(await take(store))
      assert.deepEqual(await extend(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, old, 'later'), { state: 'fenced' })
      assert.deepEqual(await drop(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, ownToken, 'right'), { state: 'ok' })
      assert.deepEqual(await finish(store, old, 'latest'), { state: 'fenced' })
      assert.deepEqual(await take(store), { state: 'finished', result: 'right' })
    },
  },
  {
    name: 'a dropped key can be taken again',
    async run({ open }) {
      const store = await open()
      const ownToken = token(await take(store))
      assert.deepEqual(await drop(store, ownToken), { state: 'ok' })
      assert.deepEqual(await finish(store, ownToken, 'x'), { state: 'fenced' })
      token(await take(store))
    },
  },
  {
    name: 'a result is kept for its ttl, and the key is new after it',
    async run({ open, advance }) {
      const store = await open()
      await finish(store, token(await take(store)), 'x', 100_000)
      await advance(70_000)
      assert.deepEqual(await take(store), { state: 'finished', result: 'x' })
      await advance(30_001)
      token(await take(store))
    },
  },
  {
    name: 'keys are compared byte by byte, and a made-up token is fenced',
    async run({ open }) {
      const store = await open()
      const orderToken = token(await take(store, 'order 1'))
      const storeB = token(await take(store, 'Order 1'))
      for (const wrong of [storeB, '', 'x', "' or 1=1"]) {
        assert.deepEqual(await finish(store, wrong, 'x', null, 'order 1'), { state: 'fenced' })
      }
      assert.deepEqual(await finish(store, orderToken, 'x', null, 'missing'), { state: 'fenced' })
      assert.deepEqual(await finish(store, orderToken, '', null, 'order 1'), { state: 'ok' })
      assert.deepEqual(await take(store, 'order 1'), { state: 'finished', result: '' })
    },
  },
  {
    name: 'a bad step on a key is INVALID_INPUT and takes nothing',
    async run({ open }) {
      const store = await open()
      for (const bad of ['', 'a\0', '\ud800', 'x'.repeat(256)]) {
        await rejects(() => take(store, bad), 'INVALID_INPUT')
      }
      for (const leaseMs of [0, -1, 1.5, Number.NaN]) {
        await rejects(() => take(store, 'k', leaseMs), 'INVALID_INPUT')
      }
      const ownToken = token(await take(store))
      for (const ttlMs of [0, -1, Number.NaN]) {
        await rejects(() => finish(store, ownToken, 'x', ttlMs), 'INVALID_INPUT')
      }
      assert.deepEqual(await finish(store, ownToken, 'x'), { state: 'ok' })
    },
  },
  {
    name: 'a key that 32 callers take at once goes to one of them, and again after its token expired',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      for (const _ of range(2)) {
        const states = await Promise.all(range(32).map((n) => take(stores[n % 2]!)))
        const taken = states.filter((s) => s.state === 'taken')
        assert.equal(taken.length, 1)
        token(taken[0]!)
        assert.equal(states.filter((s) => s.state === 'busy').length, 31)
        await harness.advance(LEASE_MS + 1)
      }
    },
  },
  {
    name: 'the token of a finished or expired key is fenced',
    async run({ open, advance }) {
      const store = await open()
      const ownToken = token(await take(store))
      assert.deepEqual(await finish(store, ownToken, 'first'), { state: 'ok' })
      assert.deepEqual(await finish(store, ownToken, 'second'), { state: 'fenced' })
      assert.deepEqual(await extend(store, ownToken), { state: 'fenced' })
      assert.deepEqual(await drop(store, ownToken), { state: 'fenced' })
      assert.deepEqual(await take(store), { state: 'finished', result: 'first' })
      const late = token(await take(store, 'late'))
      await advance(LEASE_MS + 1)
      assert.deepEqual(await drop(store, late, 'late'), { state: 'fenced' })
      token(await take(store, 'late'))
    },
  },
  {
    name: 'a prune removes expired results and no other keys',
    needs: ['retention'],
    async run({ open, advance }) {
      const store = await open()
      for (const [key, ttlMs] of [
        ['short', 1_000],
        ['shorter', 500],
        ['long', 1_000_000],
        ['for good', null],
      ] as const) {
        await finish(store, token(await take(store, key)), key, ttlMs, key)
      }
      token(await take(store, 'lost', 1_000))
      const ownToken = token(await take(store, 'held', 1_000_000))
      await advance(2_000)
      for (const _ of range(5)) await store.retention.prune({ source: 'any', limit: 1 })
      assert.deepEqual(await take(store, 'long'), { state: 'finished', result: 'long' })
      assert.deepEqual(await take(store, 'for good'), { state: 'finished', result: 'for good' })
      token(await take(store, 'lost'))
      assert.deepEqual(await extend(store, ownToken, LEASE_MS, 'held'), { state: 'ok' })
      for (const key of ['short', 'shorter']) token(await take(store, key))
    },
  },
]

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
    name: 'watermarks are separate by source and key',
    async run({ open }) {
      const store = await open()
      await advanceTo(store, 9, 'order 1')
      assert.equal(await advanceTo(store, 1, 'Order 1'), true)
      assert.equal(await advanceTo(store, 1, 'order 1', 'crm'), true)
      assert.equal(await store.keys.watermark(SOURCE, 'order 1'), 9)
    },
  },
  {
    name: 'many transactions that move one watermark leave the highest value, and none commits a lower value after a higher one',
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
    name: 'a watermark stays after the events that moved it were removed',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      const of = await recordEvent(store, 'old', { receivedAt: 1_000 })
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
