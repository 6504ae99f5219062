/** Resource keys: `once(key, fn)` with no event around it. One holder at a time, and a finished key stays finished. */
import assert from 'node:assert/strict'
import type { CompleteStore, KeyState } from '../../store.js'
import type { ContractCase } from './harness.js'
import { LEASE_MS, openSeveral, range, rejects } from './support.js'

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

function token(state: KeyState, repeat: boolean): string {
  assert.ok(state.state === 'taken', `taken, not ${state.state}`)
  assert.equal(state.repeat, repeat)
  return state.token
}

export const keyCases: readonly ContractCase[] = [
  {
    name: 'a key that is finished gives its result to everyone after',
    async run(harness) {
      const [one, two] = await openSeveral(harness, 2)
      const held = token(await take(one!), false)
      assert.deepEqual(await finish(one!, held, '{"id":7}'), { state: 'ok' })
      for (const store of [one!, two!]) {
        assert.deepEqual(await take(store), { state: 'finished', result: '{"id":7}' })
      }
      await harness.advance(1_000 * LEASE_MS)
      assert.deepEqual(await take(one!), { state: 'finished', result: '{"id":7}' }, 'null keeps it for good')
    },
  },
  {
    name: 'a key that is held is busy for everyone else',
    async run(harness) {
      const [one, two] = await openSeveral(harness, 2)
      const held = token(await take(one!), false)
      const busy = await take(two!)
      assert.ok(busy.state === 'busy')
      await harness.advance(LEASE_MS - 30_000)
      assert.equal((await take(two!)).state, 'busy')
      assert.deepEqual(await extend(one!, held), { state: 'ok' })
      await harness.advance(LEASE_MS - 20_000)
      const later = await take(two!)
      assert.ok(later.state === 'busy' && later.until > busy.until, 'extended')
    },
  },
  {
    name: 'of many that take a key at once one gets it',
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
    name: 'a key whose holder was lost can be taken, is marked as a repeat, and the old token is worthless',
    async run({ open, advance }) {
      const store = await open()
      const old = token(await take(store), false)
      await advance(LEASE_MS + 1)
      assert.deepEqual(await extend(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, old, 'late'), { state: 'fenced' })
      const held = token(await take(store), true)
      assert.deepEqual(await extend(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, old, 'later'), { state: 'fenced' })
      assert.deepEqual(await drop(store, old), { state: 'fenced' })
      assert.deepEqual(await finish(store, held, 'right'), { state: 'ok' })
      assert.deepEqual(await finish(store, old, 'latest'), { state: 'fenced' })
      assert.deepEqual(await take(store), { state: 'finished', result: 'right' })
    },
  },
  {
    name: 'a key that was given back can be taken afresh',
    async run({ open }) {
      const store = await open()
      const held = token(await take(store), false)
      assert.deepEqual(await drop(store, held), { state: 'ok' })
      assert.deepEqual(await finish(store, held, 'x'), { state: 'fenced' })
      token(await take(store), false)
    },
  },
  {
    name: 'a result is kept for the time asked, and the key is new after it',
    async run({ open, advance }) {
      const store = await open()
      await finish(store, token(await take(store), false), 'x', 100_000)
      await advance(70_000)
      assert.deepEqual(await take(store), { state: 'finished', result: 'x' })
      await advance(30_001)
      token(await take(store), false)
    },
  },
  {
    name: 'keys are told apart byte by byte, and a made-up token is worthless',
    async run({ open }) {
      const store = await open()
      const one = token(await take(store, 'order 1'), false)
      const two = token(await take(store, 'Order 1'), false)
      for (const wrong of [two, '', 'x', "' or 1=1"]) {
        assert.deepEqual(await finish(store, wrong, 'x', null, 'order 1'), { state: 'fenced' })
      }
      assert.deepEqual(await finish(store, one, 'x', null, 'missing'), { state: 'fenced' })
      assert.deepEqual(await finish(store, one, '', null, 'order 1'), { state: 'ok' })
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
      const held = token(await take(store), false)
      for (const ttlMs of [0, -1, Number.NaN]) {
        await rejects(() => finish(store, held, 'x', ttlMs), 'INVALID_INPUT')
      }
      assert.deepEqual(await finish(store, held, 'x'), { state: 'ok' })
    },
  },
  {
    name: 'of 32 that take a key at once one gets it, and again when that one was lost',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      for (const repeat of [false, true]) {
        const states = await Promise.all(range(32).map((n) => take(stores[n % 2]!)))
        const taken = states.filter((s) => s.state === 'taken')
        assert.equal(taken.length, 1)
        token(taken[0]!, repeat)
        assert.equal(states.filter((s) => s.state === 'busy').length, 31)
        await harness.advance(LEASE_MS + 1)
      }
    },
  },
  {
    name: 'the token of a key that is finished or whose time is over changes nothing any more',
    async run({ open, advance }) {
      const store = await open()
      const held = token(await take(store), false)
      assert.deepEqual(await finish(store, held, 'first'), { state: 'ok' })
      assert.deepEqual(await finish(store, held, 'second'), { state: 'fenced' })
      assert.deepEqual(await extend(store, held), { state: 'fenced' })
      assert.deepEqual(await drop(store, held), { state: 'fenced' })
      assert.deepEqual(await take(store), { state: 'finished', result: 'first' })
      const late = token(await take(store, 'late'), false)
      await advance(LEASE_MS + 1)
      assert.deepEqual(await drop(store, late, 'late'), { state: 'fenced' })
      token(await take(store, 'late'), true)
    },
  },
  {
    name: 'pruning removes results that are past their time and no other keys',
    needs: ['retention'],
    async run({ open, advance }) {
      const store = await open()
      for (const [key, ttlMs] of [
        ['short', 1_000],
        ['shorter', 500],
        ['long', 1_000_000],
        ['for good', null],
      ] as const) {
        await finish(store, token(await take(store, key), false), key, ttlMs, key)
      }
      token(await take(store, 'lost', 1_000), false)
      const held = token(await take(store, 'held', 1_000_000), false)
      await advance(2_000)
      for (const _ of range(5)) await store.retention.prune({ source: 'any', limit: 1 })
      assert.deepEqual(await take(store, 'long'), { state: 'finished', result: 'long' })
      assert.deepEqual(await take(store, 'for good'), { state: 'finished', result: 'for good' })
      token(await take(store, 'lost'), true)
      assert.deepEqual(await extend(store, held, LEASE_MS, 'held'), { state: 'ok' })
      for (const key of ['short', 'shorter']) token(await take(store, key), false)
    },
  },
]
