/** Cases of the `grants` capability: limits across processes. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CompleteStore, Grant, GrantHolder, GrantRequest } from '../../store.js'
import {
  type ContractCase,
  claimEvent,
  key,
  openSeveral,
  range,
  recordEvent,
  rejects,
  SOURCE,
  settle,
  succeeded,
} from './support.js'

const LEASE_MS = 30_000
const name = { source: SOURCE, pattern: '*', key: '' }
const WORKER = 'w1'

function holder(worker = WORKER, leaseMs = LEASE_MS): GrantHolder {
  return { id: randomUUID(), worker, leaseMs }
}

async function take(store: CompleteStore, by: GrantHolder, request: Partial<GrantRequest>): Promise<Grant> {
  const { grants } = await store.grants.take(by, [{ ...name, ...request }])
  assert.equal(grants.length, 1)
  return grants[0]!
}

const slots = async (store: CompleteStore, by: GrantHolder, wanted: number, most: number, more = {}) =>
  (await take(store, by, { slots: { wanted, most }, ...more })).slots

const list = (store: CompleteStore, source?: string) =>
  store.grants.list(source === undefined ? { limit: 100 } : { source, limit: 100 })

export const grantCases: readonly ContractCase[] = [
  {
    name: 'holders together never have more slots than there are, and what one gives back another gets',
    async run({ open }) {
      const store = await open()
      const [a, b, c] = [holder('a'), holder('b'), holder('c')]
      assert.equal(await slots(store, a, 2, 3), 2)
      assert.equal(await slots(store, b, 3, 3), 1)
      assert.equal(await slots(store, c, 1, 3), 0)
      assert.equal(await slots(store, a, 2, 3), 2, 'a holder keeps what it has')
      assert.equal(await slots(store, a, 5, 3), 2, 'and gets no more than there is')
      assert.equal(await slots(store, a, 0, 3), 0)
      assert.equal(await slots(store, c, 9, 3), 2)
      assert.deepEqual(
        (await list(store)).map((one) => one.slots),
        [3],
      )
    },
  },
  {
    name: 'each source, pattern and key is a limit of its own',
    async run({ open }) {
      const store = await open()
      const names = [
        name,
        { ...name, source: `${SOURCE}/mail` },
        { ...name, pattern: 'order.*' },
        { ...name, key: 'cus_1' },
        { ...name, key: 'cus_2' },
      ]
      const requests = names.map((one) => ({ ...one, slots: { wanted: 1, most: 1 } }))
      for (const [by, expected] of [
        [holder('a'), 1],
        [holder('b'), 0],
      ] as const) {
        const { grants } = await store.grants.take(by, requests.toReversed())
        assert.deepEqual(
          grants.map((grant) => grant.slots),
          names.map(() => expected),
        )
      }
      assert.equal((await list(store)).length, names.length)
      assert.equal((await list(store, `${SOURCE}/mail`)).length, 1)
    },
  },
  {
    name: 'the slots of a dead process are free when its time is over',
    async run({ open, advance }) {
      const store = await open()
      const [dead, next] = [holder('dead'), holder('next')]
      assert.equal(await slots(store, dead, 1, 1), 1)
      await advance(LEASE_MS / 2)
      assert.equal(await slots(store, next, 1, 1), 0)
      await advance(LEASE_MS)
      assert.equal(await slots(store, next, 1, 1), 1)
      assert.equal(await slots(store, dead, 1, 1), 0, 'it wakes up, and its slot is gone')
    },
  },
  {
    name: 'the slots of a process are not free while an event that it claimed of the source is leased',
    async run({ open, advance }) {
      const store = await open()
      const [frozen, next] = [holder('frozen', 1_000), holder('next')]
      assert.equal(await slots(store, frozen, 1, 1), 1)
      await recordEvent(store, 'a')
      const { lease } = await claimEvent(store, key('a'), { worker: 'frozen', leaseMs: 60_000 })
      await advance(30_000)
      assert.equal(await slots(store, next, 1, 1), 0)
      assert.equal(await slots(store, next, 1, 1, { source: 'other' }), 1)
      assert.equal(await settle(store, lease, succeeded), true)
      assert.equal(await slots(store, next, 1, 1), 1)
    },
  },
  {
    name: 'a holder that asks in time keeps its slots for ever',
    async run({ open, advance }) {
      const store = await open()
      const [holds, waits] = [holder('holds'), holder('waits')]
      for (const _ of range(4)) {
        assert.equal(await slots(store, holds, 1, 1), 1)
        await advance(LEASE_MS * 0.7)
        assert.equal(await slots(store, waits, 1, 1), 0)
      }
    },
  },
  {
    name: 'starts of all holders follow each other at the distance that was asked for',
    async run({ open }) {
      const store = await open()
      const starts = { wanted: 3, spacingMs: 100 }
      const first = await take(store, holder('a'), { starts })
      const second = await take(store, holder('b'), { starts })
      assert.deepEqual([first.starts, second.starts], [3, 3])
      assert.ok(Math.abs(second.firstStartAt - first.firstStartAt - 300) < 0.01)
      const [state] = await list(store)
      assert.ok(Math.abs(state!.nextStartAt - first.firstStartAt - 600) < 0.01)
    },
  },
  {
    name: 'starts that nobody took are not made up for, and none is granted further ahead than a second',
    async run({ open, advance }) {
      const store = await open()
      const a = holder('a')
      const { now, grants } = await store.grants.take(a, [{ ...name, starts: { wanted: 1, spacingMs: 100 } }])
      assert.ok(Math.abs(grants[0]!.firstStartAt - now) < 0.01)
      await advance(60_000)
      const later = await store.grants.take(a, [{ ...name, starts: { wanted: 20, spacingMs: 100 } }])
      assert.ok(later.grants[0]!.firstStartAt >= later.now - 0.01, 'not in the past')
      const full = await take(store, holder('b'), { starts: { wanted: 1, spacingMs: 100 } })
      assert.equal(full.starts, 0)
      assert.ok(full.firstStartAt > later.now + 1_000, 'it says when the next start is free')
    },
  },
  {
    name: 'a pause ends the starts of every holder until it is over, and a shorter one does not end it',
    async run({ open, advance }) {
      const store = await open()
      const [a, b] = [holder('a'), holder('b')]
      const starts = { wanted: 1, spacingMs: 10 }
      const { now, grants } = await store.grants.take(a, [{ ...name, pauseMs: 60_000 }])
      assert.ok(grants[0]!.pausedUntil >= now + 59_999)
      assert.ok((await take(store, b, { pauseMs: 5 })).pausedUntil >= now + 59_999)
      const paused = await take(store, b, { starts, slots: { wanted: 1, most: 1 } })
      assert.equal(paused.starts, 0)
      assert.ok(paused.pausedUntil >= now + 59_999)
      await advance(61_000)
      const over = await take(store, b, { starts })
      assert.deepEqual([over.starts, over.pausedUntil], [1, 0])
    },
  },
  {
    name: 'a limit that is not in use leaves nothing behind',
    async run({ open, advance }) {
      const store = await open()
      const a = holder('a')
      const keys = range(20).map((i) => ({ ...name, key: `cus_${i}` }))
      const used = { slots: { wanted: 1, most: 1 }, starts: { wanted: 1, spacingMs: 10 } }
      await store.grants.take(
        a,
        keys.map((one) => ({ ...one, ...used })),
      )
      assert.equal((await list(store)).length, 20)
      await advance(1_000)
      await store.grants.take(
        a,
        keys.slice(1).map((one) => ({ ...one, slots: { wanted: 0, most: 1 } })),
      )
      assert.deepEqual(
        (await list(store)).map((one) => one.key),
        ['cus_0'],
      )
      await advance(3 * 24 * 60 * 60 * 1_000)
      await take(store, holder('b'), { ...used, key: 'another' })
      assert.deepEqual(
        (await list(store)).map((one) => one.key),
        ['another'],
      )
    },
  },
  {
    name: 'many processes that ask at once get together what there is, and no more',
    async run(harness) {
      const stores = await openSeveral(harness, 4)
      const keys = range(3).map((i) => ({ ...name, key: `k${i}` }))
      const held = new Map<string, number>()
      let worst = 0
      await Promise.all(
        stores.map(async (store, s) => {
          const by = holder(`w${s}`)
          for (const round of range(12)) {
            const ordered = (s + round) % 2 === 0 ? keys : keys.toReversed()
            const wanted = round % 3
            // Given up before the store hears of it, and held after it has answered.
            for (const one of ordered)
              held.set(`${s} ${one.key}`, Math.min(wanted, held.get(`${s} ${one.key}`) ?? 0))
            const { grants } = await store.grants.take(
              by,
              ordered.map((one) => ({ ...one, slots: { wanted, most: 3 } })),
            )
            for (const [i, one] of ordered.entries()) held.set(`${s} ${one.key}`, grants[i]!.slots)
            for (const one of keys) {
              const all = stores.reduce((sum, _, n) => sum + (held.get(`${n} ${one.key}`) ?? 0), 0)
              worst = Math.max(worst, all)
            }
          }
        }),
      )
      assert.ok(worst >= 1 && worst <= 3, `${worst} slots of 3 were held at once`)
    },
  },
  {
    name: 'malformed requests are refused',
    async run({ open }) {
      const store = await open()
      const a = holder()
      const wrong: [GrantHolder, Partial<GrantRequest>][] = [
        [{ ...a, id: 'me' }, {}],
        [{ ...a, leaseMs: 0 }, {}],
        [{ ...a, worker: '' }, {}],
        [a, { pattern: '' }],
        [a, { slots: { wanted: -1, most: 1 } }],
        [a, { slots: { wanted: 1, most: 0 } }],
        [a, { starts: { wanted: 1, spacingMs: 0 } }],
        [a, { starts: { wanted: 1, spacingMs: Number.NaN } }],
        [a, { pauseMs: -1 }],
      ]
      for (const [by, request] of wrong) await rejects(() => take(store, by, request), 'INVALID_INPUT')
      assert.deepEqual((await store.grants.take(a, [])).grants, [])
      assert.deepEqual(await list(store), [])
    },
  },
]
