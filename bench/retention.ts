/**
 * Does retention slow down intake? `-- retention [events] [rounds]` (default 1,000,000 and 4).
 *   PostgreSQL  a log of that many events over twelve months: a month of payloads is dropped while deliveries arrive
 *   SQLite      a tenth as many: payloads are removed in bounded batches while deliveries arrive
 * Deliveries arrive at a constant rate; each round measures without retention, then during it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres.js'
import { steadyLoad } from './support/load.js'
import { startServer } from './support/server-process.js'
import { stripeRequests } from './support/stripe-requests.js'
import { median, quantile, table } from './support/table.js'

const PER_SECOND = 300
const QUIET_MS = 4_000
const DAY = 86_400_000

export async function retentionBench(args: string[]): Promise<void> {
  const events = Number(args[0] ?? 1_000_000)
  const rounds = Number(args[1] ?? 4)
  const secret = `whsec_${randomBytes(24).toString('hex')}`
  const rows = [
    await onPostgres(secret, events, Math.min(rounds, 10)),
    await onSqlite(secret, Math.ceil(events / 10), rounds),
  ]
  console.log(
    `\nacks at ${PER_SECOND} deliveries a second, ms; medians of the rounds. removal: of one month; of all batches of a round`,
  )
  console.log(
    table(
      ['store', 'events', 'p99 without', 'p99 during', 'ratio', 'removal ms', 'longest ms', 'payloads'],
      rows,
    ),
  )
}

interface Round {
  readonly without: number
  readonly during: number
  readonly ms: number
  readonly payloads: number
}

async function measure(
  port: number,
  source: ReturnType<typeof stripe>,
  remove: () => Promise<number>,
): Promise<Round> {
  const p99 = async (until: Promise<unknown>) => {
    const result = await steadyLoad(port, PER_SECOND, await stripeRequests(source, PER_SECOND * 30), until)
    if (Object.keys(result.statuses).join() !== '200') throw new Error(JSON.stringify(result.statuses))
    return quantile([...result.latenciesMs], 0.99)
  }
  const without = await p99(sleep(QUIET_MS))
  let ms = 0
  let payloads = 0
  const during = await p99(
    (async () => {
      await sleep(1_500)
      const startedAt = performance.now()
      payloads = await remove()
      ms = performance.now() - startedAt
      await sleep(500)
    })(),
  )
  return { without, during, ms, payloads }
}

function row(store: string, events: number, rounds: readonly Round[]): (string | number)[] {
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

async function onPostgres(secret: string, events: number, rounds: number): Promise<(string | number)[]> {
  const database = await startPostgres({ settings: { shared_buffers: '512MB', max_wal_size: '8GB' } })
  const store = postgres({ url: database.url })
  const server = await startServer('postgres', { BENCH_SECRET: secret, BENCH_POSTGRES: database.url })
  try {
    await fillPostgres(database.url, events)
    const results: Round[] = []
    for (let i = 0; i < rounds; i++) {
      const before = firstOfMonth(-11 + i)
      results.push(
        await measure(server.port, stripe({ secret }), async () => {
          const { dropped } = await store.retention.maintain({ payloadsBefore: { stripe: before } })
          return dropped.reduce((sum, { payloads }) => sum + payloads, 0)
        }),
      )
    }
    return row('PostgreSQL, a month dropped', events, results)
  } finally {
    await server.stop()
    await store.close()
    await database.remove()
  }
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
    await client.query(`select hookonce.ensure_partitions('${from}'::timestamptz, 0)`)
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

async function onSqlite(secret: string, events: number, rounds: number): Promise<(string | number)[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const path = join(folder, 'events.db')
  const store = sqlite(path)
  await store.migrate()
  await fillSqlite(store, events)
  const server = await startServer('sqlite', { BENCH_SECRET: secret, BENCH_SQLITE: path })
  try {
    const results: Round[] = []
    for (let i = 0; i < rounds; i++) {
      const before = Date.now() - 400 * DAY + ((i + 1) / rounds) * 300 * DAY
      results.push(
        await measure(server.port, stripe({ secret }), async () => {
          for (let payloads = 0; ; ) {
            const pruned = await store.retention.prune({
              source: 'stripe',
              payloadsBefore: before,
              limit: 500,
            })
            payloads += pruned.payloads
            if (!pruned.more) return payloads
            await sleep(5)
          }
        }),
      )
    }
    return row('SQLite, batches of 500', events, results)
  } finally {
    await server.stop()
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

async function fillSqlite(store: Store, events: number): Promise<void> {
  const body = Buffer.alloc(500, 'x')
  for (let i = 0; i < events; i += 1_000) {
    await store.record(
      Array.from({ length: 1_000 }, (_, n) => ({
        source: 'stripe',
        headers: {},
        body,
        receivedAt: Date.now() - 400 * DAY + ((i + n) / events) * 300 * DAY,
        events: [
          {
            eventId: `evt_old_${i + n}`,
            eventType: 'invoice.paid',
            reference: null,
            contentHash: null,
            guardHash: null,
          },
        ],
        onReplayedContent: 'review' as const,
      })),
    )
    const claimed = await store.claim({ worker: 'bench', limit: 1_000, leaseMs: 60_000 })
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 0 })))
  }
}
