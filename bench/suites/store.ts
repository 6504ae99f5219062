/**
 * The stores without HTTP, bodies of 500 bytes: the rate of each step, and for PostgreSQL its WAL. `record and process`
 * is what an event costs from its delivery to its outcome: 64 callers record through group commit, then an inbox handles
 * the events, each in a transaction of its own.
 */
import { createInbox, type Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { groupCommit } from '#dist/intake/group-commit.js'
import type { Bench } from '../bench.js'
import type { Samples } from '../report/samples.js'
import type { Suite } from '../suite.js'
import { deliveries, delivery, drainTimes } from '../support/events.js'
import { walBytes } from './processing.js'

interface Step {
  readonly name: string
  /** Before each round; not measured. */
  prepare?(store: Store, size: number): Promise<unknown>
  run(store: Store, size: number): Promise<number>
}

const steps: readonly Step[] = [
  { name: 'one at a time, a commit each', run: (store, size) => record(store, 1, size / 20) },
  { name: '16 callers, group commit', run: (store, size) => record(store, 16, size / 2) },
  { name: '128 callers, group commit', run: (store, size) => record(store, 128, size) },
  {
    name: '128 callers, duplicates only',
    async run(store, size) {
      const known = deliveries(Math.min(1_000, size))
      await store.record(known)
      return record(store, 128, size, (i) => known[i % known.length]!)
    },
  },
  {
    name: 'claim 200, settle 200',
    prepare: (store, size) => record(store, 128, size),
    async run(store) {
      const before = (await store.stats())[0]!.succeeded
      await drainTimes(store, 200)
      return (await store.stats())[0]!.succeeded - before
    },
  },
  { name: 'record and process', run: recordAndProcess },
]

async function record(
  store: Store,
  callers: number,
  total: number,
  make: (i: number) => NewDelivery = () => delivery(),
): Promise<number> {
  const commits = groupCommit(store)
  let next = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < total) await commits.record(make(next++))
    }),
  )
  return next
}

async function recordAndProcess(store: Store, size: number): Promise<number> {
  const count = await record(store, 64, size / 4)
  // `stop` closes the store of an inbox, and this one is used again.
  const inbox = createInbox({
    store: { ...store, close: async () => {} },
    sources: { stripe: unverified({ id: 'json:id', type: 'json:type' }) },
    log: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  inbox.on('stripe', '*', async (_event, ctx) => void ctx.tx)
  await inbox.drain()
  await inbox.stop()
  return count
}

export const store: Suite = {
  name: 'store',
  title: 'The stores, and WAL per event',
  minutes: 2,
  async run(bench) {
    const size = bench.short ? 128 : 20_000
    const url = await bench.database()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const stores: Record<string, Store> = {
      sqlite: sqlite(`${bench.folder()}/events.db`),
      postgres: postgres({ url }),
    }
    bench.after(async () => {
      for (const each of Object.values(stores)) await each.close()
      await client.end()
    })
    for (const each of Object.values(stores)) await each.migrate()
    const found = new Map<string, Samples>()
    for (const step of steps) found.set(step.name, await measure(bench, stores, client, step, size))
    return {
      tables: [
        {
          title: 'Events a second; bytes of WAL for an event',
          head: ['step', 'SQLite', 'PostgreSQL', 'WAL bytes'],
          rows: [...found].map(([name, samples]) => [
            name,
            samples.of('sqlite', 'perSecond'),
            samples.of('postgres', 'perSecond'),
            samples.of('postgres', 'wal'),
          ]),
        },
      ],
      figures: { wal: found.get('record and process')!.of('postgres', 'wal') / 1_000 },
    }
  },
}

function measure(
  bench: Bench,
  stores: Readonly<Record<string, Store>>,
  client: pg.Client,
  { name, prepare, run }: Step,
  size: number,
): Promise<Samples> {
  return bench.rounds({
    title: name,
    sides: Object.keys(stores),
    share: 1 / steps.length,
    most: 5,
    async measure(kind) {
      await prepare?.(stores[kind]!, size)
      const walBefore = await walBytes(client)
      const startedAt = performance.now()
      const events = await run(stores[kind]!, size)
      const seconds = (performance.now() - startedAt) / 1_000
      return { perSecond: events / seconds, wal: ((await walBytes(client)) - walBefore) / events }
    },
  })
}
