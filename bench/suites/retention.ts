/**
 * Does retention slow down intake? Deliveries arrive at a constant rate; each round measures without retention, then
 * during it.
 *   PostgreSQL  a log over twelve months: a month of payloads is dropped
 *   SQLite      a tenth as many events: payloads are removed in bounded batches
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import type { Bench } from '../bench.js'
import { median, quantile } from '../report/table.js'
import type { Cell, Suite } from '../suite.js'
import { delivery } from '../support/events.js'
import { steadyLoad } from '../support/load.js'
import { stripeRequests } from '../support/requests.js'

const PER_SECOND = 300
const DAY = 86_400_000

export const retention: Suite = {
  name: 'retention',
  title: 'Retention while deliveries arrive',
  minutes: 1.5,
  async run(bench) {
    const events = bench.short ? 1_200 : bench.full ? 5_000_000 : 240_000
    const rounds = bench.short ? 1 : Math.max(1, Math.min(4, Math.floor(bench.budgetMs / 20_000)))
    const rows = [await onPostgres(bench, events, rounds), await onSqlite(bench, events / 10, rounds)]
    bench.notes.push(`Medians of ${rounds} rounds. Removal: of one month; of all batches of a round.`)
    return {
      tables: [
        {
          title: `Acknowledgements at ${PER_SECOND} deliveries a second, ms`,
          head: [
            'store',
            'events',
            'p99 without',
            'p99 during',
            'ratio',
            'removal ms',
            'longest ms',
            'payloads',
          ],
          rows,
        },
      ],
      figures: {},
    }
  },
}

interface Round {
  readonly without: number
  readonly during: number
  readonly ms: number
  readonly payloads: number
}

async function measure(bench: Bench, port: number, remove: () => Promise<number>): Promise<Round> {
  const quietMs = bench.short ? 200 : 3_000
  const p99 = async (until: () => Promise<unknown>) => {
    const { latenciesMs } = await steadyLoad(port, PER_SECOND, stripeRequests(PER_SECOND * 30), until)
    return quantile([...latenciesMs], 0.99)
  }
  const without = await p99(() => sleep(quietMs))
  let ms = 0
  let payloads = 0
  const during = await p99(async () => {
    await sleep(quietMs / 3)
    const startedAt = performance.now()
    payloads = await remove()
    ms = performance.now() - startedAt
    await sleep(quietMs / 6)
  })
  return { without, during, ms, payloads }
}

function row(store: string, events: number, rounds: readonly Round[]): Cell[] {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]))
  const longest = Math.max(...rounds.map((round) => round.ms))
  return [
    store,
    events,
    of('without'),
    of('during'),
    of('during') / of('without'),
    of('ms'),
    longest,
    of('payloads'),
  ]
}

async function startServer(bench: Bench, side: string, env: Record<string, string>): Promise<number> {
  const child = await bench.child(new URL('../sides/server-child.ts', import.meta.url), [side], env)
  return (await child.ask<{ port: number }>({ do: 'listen' })).port
}

async function onPostgres(bench: Bench, events: number, rounds: number): Promise<Cell[]> {
  const url = await bench.database()
  const store = postgres({ url })
  bench.after(() => store.close())
  const port = await startServer(bench, 'postgres', { BENCH_POSTGRES: url })
  await fillPostgres(url, events)
  const results: Round[] = []
  for (let i = 0; i < rounds; i++) {
    const before = firstOfMonth(-11 + i)
    const removed = await measure(bench, port, async () => {
      const { dropped } = await store.retention.maintain({ payloadsBefore: { stripe: before } })
      return dropped.reduce((sum, { payloads }) => sum + payloads, 0)
    })
    results.push(removed)
    bench.progress(`PostgreSQL, round ${i + 1} of ${rounds}`)
  }
  return row('PostgreSQL, a month dropped', events, results)
}

function firstOfMonth(offset: number): number {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)
}

/** Finished events without a row in the work table, spread evenly over the last twelve months. */
async function fillPostgres(url: string, events: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (let month = -12; month < 0; month++) {
    const from = new Date(firstOfMonth(month)).toISOString()
    const to = new Date(firstOfMonth(month + 1)).toISOString()
    const count = Math.ceil(events / 12)
    await client.query(`select hookonce.ensure_partitions('${from}'::timestamptz, 0, 'month')`)
    await client.query(`
      with made as (
        select nextval('hookonce.event_seq') as seq,
          '${from}'::timestamptz + (n / ${count}::float8) * ('${to}'::timestamptz - '${from}'::timestamptz) as received_at
        from generate_series(0, ${count - 1}) n
      ), ledger as (
        insert into hookonce.events (seq, batch, received_at, source, event_id, event_type, related_reference)
        select seq, 0, received_at, 'stripe', 'evt_old_' || seq, 'invoice.paid', 'in_' || seq from made
      )
      insert into hookonce.payloads (seq, received_at, source, headers, body)
      select seq, received_at, 'stripe', '{}', decode(repeat('ab', 500), 'hex') from made`)
  }
  await client.query('vacuum analyze')
  await client.end()
}

async function onSqlite(bench: Bench, events: number, rounds: number): Promise<Cell[]> {
  const path = `${bench.folder()}/events.db`
  const store = sqlite(path)
  bench.after(() => store.close())
  await store.migrate()
  await fillSqlite(store, events)
  const port = await startServer(bench, 'sqlite', { BENCH_SQLITE: path })
  const results: Round[] = []
  for (let i = 0; i < rounds; i++) {
    const before = Date.now() - 400 * DAY + ((i + 1) / rounds) * 300 * DAY
    const removed = await measure(bench, port, async () => {
      for (let payloads = 0; ; ) {
        const pruned = await store.retention.prune({ source: 'stripe', payloadsBefore: before, limit: 500 })
        payloads += pruned.payloads
        if (!pruned.more) return payloads
        await sleep(5)
      }
    })
    results.push(removed)
    bench.progress(`SQLite, round ${i + 1} of ${rounds}`)
  }
  return row('SQLite, batches of 500', events, results)
}

async function fillSqlite(store: Store, events: number): Promise<void> {
  for (let i = 0; i < events; i += 1_000) {
    const count = Math.min(1_000, events - i)
    await store.record(
      Array.from({ length: count }, (_, n) => ({
        ...delivery(),
        receivedAt: Date.now() - 400 * DAY + ((i + n) / events) * 300 * DAY,
      })),
    )
    const claimed = await store.claim({ worker: 'bench', limit: 1_000, leaseMs: 60_000 })
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 0 })))
  }
}
