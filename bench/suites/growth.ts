/**
 * The cost of each call as the log grows from 10^4 to 10^7 events. The largest size is measured when filling the log
 * fits into the time of the suite, or with --full. `readyz` is the call behind that route.
 */
import type { Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import type { Bench } from '../bench.js'
import { median } from '../report/table.js'
import type { Suite } from '../suite.js'
import { deliveries, drainTimes } from '../support/events.js'
import { type Fill, fillPostgres, fillSqlite } from '../support/fill.js'

const verbs = ['record', 'claim', 'list', 'stats', 'readyz'] as const
type Verb = (typeof verbs)[number]
type Times = Record<Verb, number>

interface Log {
  readonly name: string
  readonly store: Store
  fill(fill: Fill): Promise<void>
}

export const growth: Suite = {
  name: 'growth',
  title: 'Cost of a call as the log grows',
  minutes: 7,
  async run(bench) {
    const found = new Map<string, Map<number, Times>>()
    for (const open of [openSqlite, openPostgres]) {
      const log = await open(bench)
      found.set(log.name, await measureLog(bench, log, performance.now() + bench.budgetMs / 2))
    }
    const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as Record<string, string>
    const figures: Record<string, number> = {}
    for (const [name, bySize] of found) {
      const sizes = [...bySize.keys()]
      figures[`${name}.rows`] = sizes.at(-1)!
      for (const verb of verbs)
        figures[`${name}.${verb}`] = bySize.get(sizes.at(-1)!)![verb] / bySize.get(sizes[0]!)![verb]
    }
    return {
      tables: [...found].map(([name, bySize]) => ({
        title: `${names[name]}: median ms of a call (record of 64, claim of 50, pages of 50)`,
        head: ['rows', ...verbs],
        rows: [
          ...[...bySize].map(([size, times]) => [
            size.toLocaleString('en-US'),
            ...verbs.map((verb) => times[verb]),
          ]),
          ['largest / smallest', ...verbs.map((verb) => figures[`${name}.${verb}`]!)],
        ],
      })),
      figures,
    }
  },
}

async function measureLog(bench: Bench, log: Log, endAt: number): Promise<Map<number, Times>> {
  const found = new Map<number, Times>()
  let rows = 0
  let msPerRow = 0
  for (const size of bench.short ? [1_000, 3_000] : [1e4, 1e5, 1e6, 1e7]) {
    const neededMs = (size - rows) * msPerRow * 1.3
    if (size > 1e5 && !bench.full && performance.now() + neededMs > endAt) {
      bench.note(
        `${log.name}: ${size.toLocaleString('en-US')} rows do not fit into the time; --full measures them.`,
      )
      break
    }
    const startedAt = performance.now()
    const fill = { source: 'stripe', type: 'invoice.paid', from: rows + 1, to: size, isWaiting: false }
    await log.fill({ ...fill, progress: bench.progress })
    msPerRow = (performance.now() - startedAt) / (size - rows)
    const times = await measureCalls(log.store, bench.short ? 3 : 60)
    found.set(size, times)
    bench.progress(`${log.name}, ${size.toLocaleString('en-US')} rows: ${JSON.stringify(times)}`)
    // The events that the calls recorded lie above the filled ones, and the next portion follows them.
    rows = Math.max(size, await lastSeq(log.store))
  }
  return found
}

async function measureCalls(store: Store, calls: number): Promise<Times> {
  const timed = async (call: () => Promise<unknown>) => {
    const times: number[] = []
    for (let i = -3; i < calls; i++) {
      const startedAt = performance.now()
      await call()
      if (i >= 0) times.push(performance.now() - startedAt)
    }
    return median(times)
  }
  const filters = [{}, { type: 'invoice.paid' }, { id: 'evt_old_500' }, { reference: 'in_500' }]
  let next = 0
  return {
    record: await timed(() => store.record(deliveries(64))),
    claim: median(await drainTimes(store, 50, calls)),
    list: await timed(() => store.list(filters[next++ % filters.length]!, { limit: 50 })),
    stats: await timed(() => store.stats()),
    readyz: await timed(() => store.ping()),
  }
}

async function lastSeq(store: Store): Promise<number> {
  await drainTimes(store, 500)
  const [newest] = (await store.list({}, { limit: 1 })).events
  return newest!.seq
}

async function openSqlite(bench: Bench): Promise<Log> {
  const path = `${bench.folder()}/events.db`
  const store = sqlite(path)
  bench.after(() => store.close())
  await store.migrate()
  return { name: 'sqlite', store, fill: async (fill) => fillSqlite(path, fill) }
}

async function openPostgres(bench: Bench): Promise<Log> {
  const url = await bench.database()
  const store = postgres({ url })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  bench.after(async () => {
    await store.close()
    await client.end()
  })
  await store.migrate()
  return { name: 'postgres', store, fill: (fill) => fillPostgres(client, 'hookonce', fill) }
}
