/** Opening, migrating, sharing and closing a log. */
import assert from 'node:assert/strict'
import { type Capability, type CompleteStore, capabilities } from '../../store.js'
import type { ContractCase } from './harness.js'
import { subscribeCases } from './subscribe.js'
import {
  attempt,
  claim,
  claimOne,
  delivery,
  get,
  key,
  LEASE_MS,
  operate,
  range,
  record,
  recordOne,
  rejects,
  settle,
  settlement,
  succeeded,
} from './support.js'

const of = key('evt')
const lease = { seq: 1, token: '00000000-0000-4000-8000-000000000000' }

/** Every method except `close`, `migrate` and `flush`, called in some harmless way. */
const calls: Readonly<Record<'log' | Capability, readonly ((store: CompleteStore) => unknown)[]>> = {
  log: [
    (store) => store.record([delivery('x')]),
    (store) => claim(store),
    (store) => store.extend([lease], LEASE_MS),
    (store) => store.settle([settlement(lease, succeeded)]),
    (store) => store.release([lease]),
    (store) => store.transaction(),
    (store) => store.subscribe(() => {}),
    (store) => operate(store, 'retry', of),
    (store) => store.get(of),
    (store) => store.list({}),
    (store) => store.tail({ after: 0, limit: 1 }),
    (store) => store.stats(),
    (store) => store.ping(),
  ],
  keys: [
    ({ keys }) => keys.effect({ step: 'start', lease, name: 'mail' }),
    ({ keys }) => keys.key({ step: 'take', key: 'k', leaseMs: LEASE_MS }),
    ({ keys }) => keys.watermark(of.source, 'k'),
  ],
  retention: [
    ({ retention }) => retention.prune({ source: of.source, limit: 1, eventsBefore: 1 }),
    ({ retention }) => retention.maintain({ payloadsBefore: {} }),
  ],
  archive: [
    ({ archive }) => archive.export({ source: of.source, from: 0, to: 1, after: 0, limit: 1 }),
    ({ archive }) => archive.erase({ reference: 'r', actor: 'ada', reason: '', limit: 1 }),
  ],
  audit: [
    ({ audit }) => audit.append([{ actor: 'ada', verb: 'x', ...of, reason: '' }]),
    ({ audit }) => audit.list({}),
  ],
  inspect: [
    ({ inspect }) => inspect.payload(of),
    ({ inspect }) => inspect.attempts(of),
    ({ inspect }) => inspect.report(),
  ],
  duplicates: [({ duplicates }) => duplicates.count([{ seq: 1, at: 1 }])],
}

export const openingCases: readonly ContractCase[] = [
  {
    name: 'the first migration brings the log up to date, and the next finds nothing to do',
    async run({ open }) {
      const store = await open({ migrate: false })
      const first = await store.migrate()
      assert.equal(first.from, 0)
      assert.ok(first.to >= 1)
      assert.deepEqual(
        first.applied,
        range(first.to).map((i) => i + 1),
      )
      await recordOne(store, 'evt')
      const second = await store.migrate()
      assert.deepEqual(second, { from: first.to, to: first.to, applied: [] })
      assert.equal((await (await open({ migrate: false })).migrate()).applied.length, 0)
      assert.equal((await get(store, of)).state, 'pending', 'what was in the log is still there')
    },
  },
  {
    name: 'several stores that migrate a new log at once all succeed, and each migration is applied once',
    async run({ open }) {
      const stores = await Promise.all(range(4).map(() => open({ migrate: false })))
      const reports = await Promise.all(stores.map((store) => store.migrate()))
      const applied = reports.flatMap((r) => r.applied).sort((a, b) => a - b)
      const to = reports[0]!.to
      assert.ok(reports.every((r) => r.to === to))
      assert.deepEqual(
        applied,
        range(to).map((i) => i + 1),
      )
      for (const [i, store] of stores.entries()) await recordOne(store, `e${i}`)
    },
  },
  {
    name: 'a log that was never migrated is SCHEMA_MISSING to whoever uses it',
    async run({ open }) {
      const store = await open({ migrate: false })
      await rejects(() => store.record([delivery('x')]), 'SCHEMA_MISSING')
      await rejects(() => claim(store), 'SCHEMA_MISSING')
      await rejects(() => store.get(of), 'SCHEMA_MISSING')
      await rejects(() => store.list({}), 'SCHEMA_MISSING')
      await rejects(() => store.stats(), 'SCHEMA_MISSING')
      await store.migrate()
      await recordOne(store, 'evt')
    },
  },
  {
    name: "two stores on one log see each other's work at once",
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      await recordOne(one, 'evt')
      const [verdict] = await record(two, delivery('evt'))
      assert.equal(verdict?.status, 'duplicate')
      const { lease: held } = await claimOne(two, of)
      assert.equal((await get(one, of)).state, 'processing')
      assert.deepEqual(await claim(one), [])
      assert.equal(await settle(two, held, succeeded), true)
      assert.equal((await get(one, of)).state, 'succeeded')
      assert.ok((await operate(one, 'replay', of, { force: true })).done)
      await attempt(two, of, succeeded)
      assert.deepEqual(await one.stats(), await two.stats())
    },
  },
  {
    name: 'what was recorded is there when the log is opened again',
    async run({ open }) {
      const one = await open()
      await recordOne(one, 'evt')
      await attempt(one, of, succeeded)
      const before = await get(one, of)
      await one.close()
      assert.deepEqual(await get(await open(), of), before)
    },
  },
  {
    name: 'closing waits for what is under way',
    async run({ open }) {
      const store = await open()
      const writes = range(20).map((i) => record(store, delivery(`e${i}`)))
      const [results] = await Promise.all([Promise.allSettled(writes), store.close()])
      const again = await open()
      for (const [i, result] of results.entries()) {
        // Each call is either carried out and answered, or refused because the store is closed.
        const found = await again.get(key(`e${i}`))
        if (result.status === 'fulfilled') assert.ok(found, `e${i} was acknowledged and is there`)
        else assert.equal((result.reason as { code?: unknown }).code, 'STORE_CLOSED')
      }
    },
  },
  {
    name: 'every call on a closed store is STORE_CLOSED',
    async run({ open }) {
      const store = await open()
      await store.close()
      for (const call of callsOf(store)) await rejects(() => call(store), 'STORE_CLOSED')
      await rejects(() => store.migrate(), 'STORE_CLOSED')
    },
  },
  {
    name: 'who listens for work is let go again, and hears nothing after that',
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      let woken = 0
      const end = await one.subscribe(() => woken++)
      await recordOne(two, 'a')
      await end()
      const before = woken
      await recordOne(two, 'b')
      await attempt(two, key('b'), succeeded)
      assert.equal(woken, before)
    },
  },
  {
    name: 'closing one store leaves the others on its log alone',
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      await one.close()
      await recordOne(two, 'evt')
      assert.equal((await claim(two)).length, 1)
    },
  },
  {
    name: 'a store has a name for logs that shows no password',
    async run({ open }) {
      const { name } = await open()
      assert.ok(name.length > 0)
      assert.doesNotMatch(name, /:\/\/[^/]*:[^/]*@/)
    },
  },
  ...subscribeCases,
]

function callsOf(store: CompleteStore) {
  return [...calls.log, ...capabilities.flatMap((name) => (store[name] ? calls[name] : []))]
}
