/** Opening, migrating, sharing, subscribing to and closing a log. */
import assert from 'node:assert/strict'
import { named } from '../../model.js'
import { type Capability, type CompleteStore, capabilities } from '../../store.js'
import {
  attempt,
  type CaseHarness,
  type ContractCase,
  claim,
  claimEvent,
  delivery,
  get,
  key,
  LEASE_MS,
  openSeveral,
  operate,
  range,
  record,
  recordEvent,
  rejects,
  settle,
  settlement,
  succeeded,
} from './support.js'

const SOON_MS = 1_000

async function soon(what: string, happened: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + SOON_MS
  while (!happened()) {
    assert.ok(Date.now() < giveUpAt, `${what} within ${SOON_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A pause, so that wake-ups still on their way are not counted in the next step. */
const calm = () => new Promise((resolve) => setTimeout(resolve, 100))

function ifShared(run: (harness: CaseHarness) => Promise<void>): (harness: CaseHarness) => Promise<void> {
  return async (harness) => {
    if (harness.sharedBetweenProcesses !== false) await run(harness)
  }
}

const subscribeCases: readonly ContractCase[] = [
  {
    name: 'every event recorded through another store on the log wakes a subscriber',
    run: ifShared(async (harness) => {
      const [storeA, storeB] = await openSeveral(harness, 2)
      let woken = 0
      await recordEvent(storeB!, 'before')
      const end = await storeA!.subscribe(() => woken++)
      for (const id of ['a', 'b', 'c']) {
        await calm()
        const before = woken
        await recordEvent(storeB!, id)
        await soon(`woken by ${id}`, () => woken > before)
      }
      await end()
    }),
  },
  {
    name: 'all subscribers are woken, except those that have ended',
    run: ifShared(async (harness) => {
      const [storeA, storeB] = await openSeveral(harness, 2)
      const woken = [0, 0, 0]
      const ends = []
      for (const i of woken.keys()) ends.push(await storeA!.subscribe(() => woken[i]!++))
      await recordEvent(storeB!, 'a')
      await soon('all are woken', () => woken.every((count) => count > 0))
      await ends[0]!()
      await ends[0]!()
      await calm()
      const [first, ...others] = woken
      await recordEvent(storeB!, 'b')
      await soon('the others are woken', () => others.every((count, i) => woken[i + 1]! > count))
      assert.equal(woken[0], first)
      for (const end of ends) await end()
      const again = await storeA!.subscribe(() => woken[0]!++)
      await recordEvent(storeB!, 'c')
      await soon('who listens again is woken', () => woken[0]! > first!)
      await again()
    }),
  },
  {
    name: 'closing a store ends its subscriptions',
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      let woken = 0
      const end = await storeA.subscribe(() => woken++)
      await storeA.close()
      const before = woken
      await recordEvent(storeB, 'a')
      await calm()
      assert.equal(woken, before)
      await end()
    },
  },
]

const of = key('evt')
const lease = { seq: 1, token: '00000000-0000-4000-8000-000000000000' }

const someProcess = { id: 'p', version: '1', node: '20', host: 'here', pid: 1, worker: null }

/** Every method except `close`, `migrate` and `flush`, with harmless arguments. */
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
  reconciles: [
    ({ reconciles }) => reconciles.note({ id: lease.token, source: of.source, report: '{}' }),
    ({ reconciles }) => reconciles.runs({ limit: 1 }),
  ],
  archive: [
    ({ archive }) => archive.export({ source: of.source, from: 0, to: 1, after: 0, limit: 1 }),
    ({ archive }) => archive.erase({ reference: 'r', actor: 'ada', note: '', limit: 1 }),
  ],
  audit: [
    ({ audit }) => audit.append([{ actor: 'ada', verb: 'x', ...named(of), note: '' }]),
    ({ audit }) => audit.list({}),
  ],
  inspect: [
    ({ inspect }) => inspect.payload(of),
    ({ inspect }) => inspect.attempts(of),
    ({ inspect }) => inspect.effects(of),
    ({ inspect }) => inspect.conflict(of),
    ({ inspect }) => inspect.openConflicts(1),
    ({ inspect }) => inspect.deadLetters({ limit: 1 }),
    ({ inspect }) => inspect.leases(),
    ({ inspect }) => inspect.standings([1]),
    ({ inspect }) => inspect.oldest(1),
    ({ inspect }) => inspect.types(1),
    ({ inspect }) => inspect.idsFrom('e', 1),
    ({ inspect }) => inspect.report(),
  ],
  consumers: [
    ({ consumers }) => consumers.open([]),
    ({ consumers }) => consumers.list(),
    ({ consumers }) => consumers.copy({ source: 'shop/mail', from: 0, to: 1, events: [] }),
  ],
  pauses: [
    ({ pauses }) => pauses.pause({ source: of.source, type: null, actor: 'ada', note: '' }),
    ({ pauses }) => pauses.resume({ source: of.source, type: null, actor: 'ada', note: '' }),
    ({ pauses }) => pauses.list(),
  ],
  duplicates: [({ duplicates }) => duplicates.count([{ seq: 1, at: 1 }])],
  history: [
    ({ history }) => history.add({ counts: [], process: someProcess }),
    ({ history }) => history.read({ from: 0, to: 60_000, stepMs: 60_000 }),
    ({ history }) => history.processes(),
    ({ history }) => history.handled(),
  ],
  replies: [({ replies }) => replies.get(of)],
  grants: [
    ({ grants }) =>
      grants.take({ id: '00000000-0000-4000-8000-000000000000', worker: 'w', leaseMs: 1 }, [
        { source: of.source, pattern: '*', key: '' },
      ]),
    ({ grants }) => grants.list({ limit: 1 }),
  ],
  imports: [
    ({ imports }) =>
      imports.add([
        {
          ...of,
          type: 'order.paid',
          reference: null,
          receivedAt: 1,
          processedAt: null,
          state: 'succeeded',
          reason: null,
          payload: null,
        },
      ]),
  ],
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
      await recordEvent(store, 'evt')
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
      for (const [i, store] of stores.entries()) await recordEvent(store, `e${i}`)
    },
  },
  {
    name: 'every call on a log that was never migrated is SCHEMA_MISSING',
    async run({ open }) {
      const store = await open({ migrate: false })
      await rejects(() => store.record([delivery('x')]), 'SCHEMA_MISSING')
      await rejects(() => claim(store), 'SCHEMA_MISSING')
      await rejects(() => store.get(of), 'SCHEMA_MISSING')
      await rejects(() => store.list({}), 'SCHEMA_MISSING')
      await rejects(() => store.stats(), 'SCHEMA_MISSING')
      await store.migrate()
      await recordEvent(store, 'evt')
    },
  },
  {
    name: "two stores on one log see each other's work at once",
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      await recordEvent(storeA, 'evt')
      const [verdict] = await record(storeB, delivery('evt'))
      assert.equal(verdict?.status, 'duplicate')
      const { lease } = await claimEvent(storeB, of)
      assert.equal((await get(storeA, of)).state, 'processing')
      assert.deepEqual(await claim(storeA), [])
      assert.equal(await settle(storeB, lease, succeeded), true)
      assert.equal((await get(storeA, of)).state, 'succeeded')
      assert.ok((await operate(storeA, 'replay', of, { force: true })).done)
      await attempt(storeB, of, succeeded)
      assert.deepEqual(await storeA.stats(), await storeB.stats())
    },
  },
  {
    name: 'a recorded event is there when the log is opened again',
    async run({ open }) {
      const storeA = await open()
      await recordEvent(storeA, 'evt')
      await attempt(storeA, of, succeeded)
      const before = await get(storeA, of)
      await storeA.close()
      assert.deepEqual(await get(await open(), of), before)
    },
  },
  {
    name: 'close waits for calls in progress',
    async run({ open }) {
      const store = await open()
      const writes = range(20).map((i) => record(store, delivery(`e${i}`)))
      const [results] = await Promise.all([Promise.allSettled(writes), store.close()])
      const again = await open()
      for (const [i, result] of results.entries()) {
        // Each call either succeeds or is refused because the store is closed.
        const found = await again.get(key(`e${i}`))
        if (result.status === 'fulfilled') assert.ok(found, `e${i} was acknowledged and is there`)
        else assert.equal((result.reason as { code?: unknown }).code, 'STORE_CLOSED')
      }
    },
  },
  {
    name: 'close rolls back a transaction that nobody has ended',
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'never committed')
      await store.close()
      await open()
      assert.equal(await countEffects('never committed'), 0)
      await assert.rejects(async () => transaction.commit())
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
    name: 'a subscription that has ended is not called again',
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      let woken = 0
      const end = await storeA.subscribe(() => woken++)
      await recordEvent(storeB, 'a')
      await end()
      const before = woken
      await recordEvent(storeB, 'b')
      await attempt(storeB, key('b'), succeeded)
      assert.equal(woken, before)
    },
  },
  {
    name: 'closing one store does not affect other stores on its log',
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      await storeA.close()
      await recordEvent(storeB, 'evt')
      assert.equal((await claim(storeB)).length, 1)
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
