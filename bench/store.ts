/**
 * The stores without an inbox, 500-byte payloads, all in one run:
 *   single      one event per record call and transaction, one at a time
 *   batch 16    16 concurrent callers through group commit
 *   batch 128   128 concurrent callers
 *   duplicates  128 callers, every event known
 *   process     claim 200, settle 200
 * For PostgreSQL also the WAL bytes per event of each step, and whether record slows down as the log grows
 * (`-- store 1 5000000` grows it to that many rows; the default is 200,000).
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewDelivery, Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import { groupCommit } from '#dist/intake/group-commit.js'
import { startPostgres } from '../test/support/postgres.js'
import { median, table } from './support/table.js'

const body = Buffer.from(JSON.stringify({ type: 'invoice.paid', filler: 'x'.repeat(460) }))
const contentHash = createHash('sha256').update(body).digest()
let made = 0

function delivery(id = `evt_${made++}_${randomBytes(6).toString('hex')}`): NewDelivery {
  return {
    source: 'stripe',
    headers: { 'content-type': 'application/json' },
    body,
    events: [
      {
        eventId: id,
        eventType: 'invoice.paid',
        reference: `in_${id.slice(4, 12)}`,
        contentHash,
        guardHash: null,
      },
    ],
    onReplayedContent: 'review',
  }
}

type Wal = () => Promise<number>
interface Step {
  readonly name: string
  run(store: Store): Promise<number>
}

const steps: readonly Step[] = [
  { name: 'single', run: (store) => callers(store, 1, 500, () => delivery()) },
  { name: 'batch 16', run: (store) => callers(store, 16, 8_000, () => delivery()) },
  { name: 'batch 128', run: (store) => callers(store, 128, 20_000, () => delivery()) },
  {
    name: 'duplicates',
    async run(store) {
      const known = Array.from({ length: 1_000 }, () => delivery())
      await store.record(known)
      return callers(store, 128, 30_000, (i) => known[i % known.length]!)
    },
  },
  {
    name: 'process',
    async run(store) {
      let done = 0
      for (;;) {
        const claimed = await store.claim({
          worker: 'bench',
          limit: 200,
          leaseMs: 60_000,
          sources: ['stripe'],
        })
        if (claimed.length === 0) return done
        await store.settle(
          claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })),
        )
        done += claimed.length
      }
    },
  },
]

async function callers(
  store: Store,
  count: number,
  total: number,
  make: (i: number) => NewDelivery,
): Promise<number> {
  const commits = groupCommit(store)
  let next = 0
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (next < total) await commits.record(make(next++))
    }),
  )
  return total
}

export async function storeBench(args: string[]): Promise<void> {
  const rounds = Number(args[0] ?? 3)
  const rows = Number(args[1] ?? 200_000)
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const database = await startPostgres({
    settings: { shared_buffers: '512MB', max_wal_size: '8GB', checkpoint_timeout: '1h' },
  })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const wal: Wal = async () =>
    Number((await client.query("select pg_current_wal_lsn() - '0/0' as bytes")).rows[0].bytes)
  const stores: [string, Store, Wal | null][] = [
    ['sqlite', sqlite(join(folder, 'events.db')), null],
    ['postgres', postgres({ url: database.url }), wal],
  ]
  try {
    for (const [, store] of stores) await store.migrate()
    const measured = new Map<string, { perSecond: number[]; wal: number[] }>()
    for (let round = -1; round < rounds; round++) {
      for (const step of steps) {
        for (const [name, store, walOf] of stores) {
          const result = await measure(step, store, walOf)
          if (round < 0) continue // warm-up: plans, caches
          const key = `${name} ${step.name}`
          const sum = measured.get(key) ?? { perSecond: [], wal: [] }
          sum.perSecond.push(result.perSecond)
          sum.wal.push(result.walPerEvent)
          measured.set(key, sum)
        }
      }
    }
    print(
      rounds,
      stores.map(([name]) => name),
      measured,
    )
    await growth(stores, rows)
  } finally {
    for (const [, store] of stores) await store.close()
    await client.end()
    await database.remove()
    rmSync(folder, { recursive: true })
  }
}

async function measure({ run }: Step, store: Store, wal: Wal | null) {
  const walBefore = (await wal?.()) ?? 0
  const startedAt = performance.now()
  const events = await run(store)
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: events / seconds, walPerEvent: wal ? ((await wal()) - walBefore) / events : Number.NaN }
}

function print(
  rounds: number,
  names: string[],
  measured: Map<string, { perSecond: number[]; wal: number[] }>,
): void {
  console.log(`\nmedians of ${rounds} interleaved rounds`)
  const lines = names.flatMap((name) =>
    steps.map((step) => {
      const { perSecond, wal } = measured.get(`${name} ${step.name}`)!
      const single = median(measured.get(`${name} single`)!.perSecond)
      return [`${name} ${step.name}`, median(perSecond), median(perSecond) / single, median(wal)]
    }),
  )
  console.log(table(['step', 'events/s', 'of single', 'WAL B/event'], lines))
}

/** Time of a record call of 64, in a log of ten thousand rows and in a large one. */
async function growth(stores: [string, Store, Wal | null][], rows: number): Promise<void> {
  const lines: (string | number)[][] = []
  for (const [name, store] of stores) {
    const few = await recordMs(store)
    const have = (await store.stats())[0]?.recorded ?? 0
    for (let count = have; count < rows; count += 1_000) {
      await store.record(Array.from({ length: 1_000 }, () => delivery()))
    }
    const many = await recordMs(store)
    lines.push([name, have, few, Math.max(rows, have), many, many / few])
  }
  console.log('\nrecord of 64 events as the log grows, median of 200')
  console.log(table(['store', 'rows', 'ms', 'rows', 'ms', 'ratio'], lines))
}

async function recordMs(store: Store): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    const batch = Array.from({ length: 64 }, () => delivery())
    const startedAt = performance.now()
    await store.record(batch)
    times.push(performance.now() - startedAt)
  }
  return median(times)
}
