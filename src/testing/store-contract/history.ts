/** History: counts by time, the processes of a log, and what is read beside one event. */
import assert from 'node:assert/strict'
import { HANDLED_MS } from '../../store/history.js'
import type { CompleteStore, HistoryNote, HistoryReport, ProcessFacts } from '../../store.js'
import {
  attempt,
  type ContractCase,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  key,
  record,
  recordEvent,
  sha256,
  succeeded,
} from './support.js'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const process = (id: string): ProcessFacts => ({
  id,
  version: '1.0.0',
  node: '20.0.0',
  host: 'here',
  pid: 7,
  worker: `worker of ${id}`,
})

const note = (counts: Record<string, number>, source = 'shop', id = 'p1'): HistoryNote => ({
  process: process(id),
  counts: Object.entries(counts).map(([name, value]) => ({ source, name, value })),
})

const handling = (id: string, ...patterns: readonly string[]): HistoryNote => ({
  counts: [],
  process: { ...process(id), handles: patterns.map((pattern) => ({ source: 'shop', pattern })) },
})

async function handledBy({ history }: CompleteStore): Promise<string[]> {
  return (await history.handled()).map(({ pattern }) => pattern).sort()
}

/** This hour and the one before it: a case at the end of an hour finds what it wrote. */
function lastHours({ history }: CompleteStore): Promise<HistoryReport> {
  const from = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS
  return history.read({ from, to: from + 3 * HOUR_MS, stepMs: HOUR_MS })
}

export const historyCases: readonly ContractCase[] = [
  {
    name: 'counts of several processes are added up, by source and name',
    async run({ open }) {
      const [one, other] = [await open(), await open()]
      await one.history.add(note({ received: 2, dead: 1 }))
      await Promise.all([
        one.history.add(note({ received: 3, recorded: 1 })),
        other.history.add(note({ received: 10 }, 'shop', 'p2')),
        other.history.add(note({ received: 4 }, 'bank', 'p2')),
      ])
      const { cells, since, now } = await lastHours(one)
      const total = (source: string, name: string) =>
        cells
          .filter((cell) => cell.source === source && cell.name === name)
          .reduce((sum, cell) => sum + cell.value, 0)
      assert.deepEqual(
        [
          total('shop', 'received'),
          total('shop', 'recorded'),
          total('shop', 'dead'),
          total('bank', 'received'),
        ],
        [15, 1, 1, 4],
      )
      assert.ok(since !== null && since <= now)
    },
  },
  {
    name: 'a reading has the buckets of its step, and sums a distribution over its whole range',
    async run({ open, advance }) {
      const store = await open()
      await store.history.add(note({ received: 1, '~ack 0': 1 }))
      await advance(2 * MINUTE_MS)
      await store.history.add(note({ received: 5, '~ack 0': 2 }))
      const { now } = await store.history.read({ from: 0, to: HOUR_MS, stepMs: MINUTE_MS })
      const from = now - (now % MINUTE_MS) - 10 * MINUTE_MS
      const { cells } = await store.history.read({ from, to: from + 20 * MINUTE_MS, stepMs: MINUTE_MS })
      const received = cells.filter(({ name }) => name === 'received')
      assert.deepEqual(
        received.map(({ value }) => value),
        [1, 5],
      )
      assert.equal(received[1]!.at - received[0]!.at, 2 * MINUTE_MS)
      assert.equal(received[0]!.at % MINUTE_MS, 0)
      const parts = cells.filter(({ name }) => name === '~ack 0')
      assert.deepEqual(parts, [{ source: 'shop', name: '~ack 0', value: 3, at: from }])
    },
  },
  {
    name: 'old minutes are removed, their hours stay',
    async run({ open, advance }) {
      const store = await open()
      await store.history.add(note({ received: 1 }))
      await advance(DAY_MS)
      await store.history.add(note({ received: 2 }))
      const { now } = await store.history.read({ from: 0, to: HOUR_MS, stepMs: HOUR_MS })
      const from = now - (now % HOUR_MS) - 2 * DAY_MS
      const values = async (stepMs: number) =>
        (await store.history.read({ from, to: now + DAY_MS, stepMs })).cells.map(({ value }) => value)
      assert.deepEqual(await values(MINUTE_MS), [2])
      assert.deepEqual(await values(HOUR_MS), [1, 2])
    },
  },
  {
    name: 'processes are listed with the time of their first and last note, and for a day',
    async run({ open, advance }) {
      const store = await open()
      await store.history.add(note({}, 'shop', 'p1'))
      await advance(MINUTE_MS)
      await store.history.add(note({}, 'shop', 'p1'))
      await store.history.add(note({}, 'shop', 'p2'))
      const found = await store.history.processes()
      assert.deepEqual(new Set(found.map(({ id }) => id)), new Set(['p1', 'p2']))
      const first = found.find(({ id }) => id === 'p1')!
      assert.ok(first.seenAt - first.startedAt >= MINUTE_MS - 1)
      const { startedAt: _, seenAt: __, ...facts } = first
      assert.deepEqual(facts, process('p1'))
      await advance(2 * DAY_MS)
      await store.history.add(note({}, 'shop', 'p3'))
      assert.deepEqual(
        (await store.history.processes()).map(({ id }) => id),
        ['p3'],
      )
    },
  },
]

export const handledCases: readonly ContractCase[] = [
  {
    name: 'the types that processes handle are known to all, each once, from their last notes',
    async run({ open }) {
      const [one, other] = [await open(), await open()]
      await one.history.add(handling('p1', 'order.*', 'order.paid'))
      await other.history.add(handling('p2', 'order.*', 'refund'))
      assert.deepEqual(await handledBy(one), ['order.*', 'order.paid', 'refund'])
      await one.history.add(handling('p1', 'order.sent'))
      assert.deepEqual(await handledBy(other), ['order.*', 'order.sent', 'refund'])
    },
  },
  {
    name: 'a process that stopped or died handles nothing, by the clock of the store',
    async run({ open, advance }) {
      const store = await open()
      await store.history.add(handling('stops', 'a'))
      await store.history.add(handling('dies', 'b'))
      await store.history.add({ counts: [], process: process('stops') })
      assert.deepEqual(await handledBy(store), ['b'])
      await advance(HANDLED_MS - 10_000)
      await store.history.add(handling('lives', 'c'))
      assert.deepEqual(await handledBy(store), ['b', 'c'])
      await advance(11_000)
      assert.deepEqual(await handledBy(store), ['c'])
      assert.equal((await store.history.processes()).length, 3)
    },
  },
]

export const examineCases: readonly ContractCase[] = [
  {
    name: 'effects of an event are listed without their results',
    needs: ['keys'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'e1')
      const { lease } = await claimEvent(store, key('e1'))
      await store.keys.effect({ step: 'start', lease, name: 'charge' })
      await store.keys.effect({ step: 'finish', lease, name: 'charge', result: '"secret"' })
      await store.keys.effect({ step: 'start', lease, name: 'mail' })
      const found = await store.inspect.effects(key('e1'))
      assert.deepEqual(found.map(({ name, finishedAt }) => [name, finishedAt !== null]).sort(), [
        ['charge', true],
        ['mail', false],
      ])
      assert.ok(!JSON.stringify(found).includes('secret'))
      assert.deepEqual(await store.inspect.effects(key('none')), [])
    },
  },
  {
    name: 'the latest delivery with other content is kept for comparison, and removed with its age or by an erasure',
    needs: ['duplicates', 'retention', 'archive'],
    async run({ open }) {
      const store = await open()
      const sent = (id: string, body: string) =>
        delivery(event(id, { contentHash: sha256(body), reference: `about ${id}` }), {
          body: Buffer.from(body),
          headers: { 'x-body': body },
        })
      await record(store, sent('e1', 'first'), sent('e2', 'first'))
      await record(store, sent('e1', 'second'), sent('e2', 'second'))
      await record(store, sent('e1', 'third'))
      await store.duplicates.flush()
      const found = await store.inspect.conflict(key('e1'))
      assert.equal(Buffer.from(found!.body).toString(), 'third')
      assert.deepEqual(found!.headers, { 'x-body': 'third' })
      assert.equal(Buffer.from((await store.inspect.payload(key('e1')))!.body).toString(), 'first')
      assert.equal(await store.inspect.conflict(key('none')), null)
      await store.archive.erase({ reference: 'about e1', actor: 'me', note: '', limit: 10 })
      assert.equal(await store.inspect.conflict(key('e1')), null)
      await record(store, sent('e1', 'fourth'))
      await store.duplicates.flush()
      assert.equal(await store.inspect.conflict(key('e1')), null)
      const before = Date.now() + DAY_MS
      await store.retention.prune({ source: 'shop', payloadsBefore: before, limit: 100 })
      assert.equal(await store.inspect.conflict(key('e2')), null)
    },
  },
  {
    name: 'dead letters are grouped by source, type and error',
    async run({ open }) {
      const store = await open()
      for (const id of ['e1', 'e2', 'e3']) {
        await recordEvent(store, id)
        await attempt(store, key(id), dead)
      }
      await recordEvent(store, 'e4')
      await attempt(store, key('e4'), { kind: 'failed', error: 'other', retryInMs: null })
      await recordEvent(store, 'e5')
      await attempt(store, key('e5'), succeeded)
      const { groups, scanned, cut } = await store.inspect.deadLetters({ limit: 100 })
      assert.deepEqual(groups.map(({ error, count, eventId }) => `${error}: ${count}, ${eventId}`).sort(), [
        'other: 1, e4',
        'out of tries: 3, e3',
      ])
      assert.deepEqual([scanned, cut], [4, false])
      assert.equal((await store.inspect.deadLetters({ limit: 2 })).cut, true)
      assert.deepEqual((await store.inspect.deadLetters({ source: 'bank', limit: 10 })).groups, [])
    },
  },
  {
    name: 'leases are counted for each worker, with those that have expired',
    async run({ open, advance }) {
      const store = await open()
      for (const id of ['e1', 'e2', 'e3']) await recordEvent(store, id)
      await store.claim({ worker: 'quick', limit: 1, leaseMs: 1_000 })
      await advance(2_000)
      await store.claim({ worker: 'slow', limit: 1, leaseMs: 60_000, event: key('e3') })
      const found = await store.inspect.leases()
      assert.deepEqual(
        found.map(({ worker, leases, expired }) => [worker, leases, expired]),
        [
          ['quick', 1, 1],
          ['slow', 1, 0],
        ],
      )
      assert.ok(found[1]!.expiresAt! > found[1]!.oldestClaimedAt!)
    },
  },
  {
    name: 'types and beginnings of ids are found without a scan of the log',
    async run({ open }) {
      const store = await open()
      await record(
        store,
        delivery(event('evt_1', { type: 'b' })),
        delivery(event('evt_12', { type: 'a' })),
        delivery(event('evt_2', { type: 'a' })),
        delivery(event('evt_1%', { type: 'a' }), { source: 'bank' }),
      )
      assert.deepEqual(await store.inspect.types(10), [
        { source: 'bank', types: ['a'], more: false },
        { source: 'shop', types: ['a', 'b'], more: false },
      ])
      assert.deepEqual(
        (await store.inspect.types(1)).find(({ source }) => source === 'shop'),
        {
          source: 'shop',
          types: ['a'],
          more: true,
        },
      )
      const ids = async (prefix: string, limit = 10) =>
        (await store.inspect.idsFrom(prefix, limit)).map(({ source, id }) => `${source} ${id}`)
      assert.deepEqual(await ids('evt_1'), ['bank evt_1%', 'shop evt_1', 'shop evt_12'])
      assert.deepEqual(await ids('evt_1', 1), ['bank evt_1%'])
      assert.deepEqual(await ids('vt_1'), [])
    },
  },
  {
    name: 'a list can be limited to errors of a pattern, and to events with several attempts',
    async run({ open }) {
      const store = await open()
      for (const [id, error] of [
        ['e1', 'no answer from 10.0.0.1 in 5 s'],
        ['e2', 'no answer from 10.0.0.2 in 7 s'],
        ['e3', 'other_%'],
      ] as const) {
        await recordEvent(store, id)
        await attempt(store, key(id), { kind: 'failed', error, retryInMs: null })
      }
      await recordEvent(store, 'e4')
      await attempt(store, key('e4'), { kind: 'failed', error: 'no answer from x in 1 s', retryInMs: 0 })
      await attempt(store, key('e4'), { kind: 'failed', error: 'no answer from y in 1 s', retryInMs: 0 })
      const ids = async (filter: object) => (await store.list(filter)).events.map(({ id }) => id).sort()
      assert.deepEqual(await ids({ reasonLike: 'no answer from * in * s' }), ['e1', 'e2', 'e4'])
      assert.deepEqual(await ids({ dead: true, reasonLike: 'no answer from * in * s' }), ['e1', 'e2'])
      assert.deepEqual(await ids({ reasonLike: 'other_%' }), ['e3'])
      assert.deepEqual(await ids({ reasonLike: 'othe__%' }), [])
      assert.deepEqual(await ids({ minAttempts: 2 }), ['e4'])
      assert.deepEqual(await ids({ minAttempts: 3 }), [])
    },
  },
]
