/**
 * npm run chaos -- growth: how the log on PostgreSQL behaves when it is large. Fills a log and a backlog, then measures
 * record, claim, settle, every filter of lists, statistics, readiness, metrics, retention, vacuum, and the bloat of the
 * work table while a transaction stays open. Needs about 10 GB of disk below the folder for temporary files.
 *
 * HOOKONCE_GROWTH_EVENTS (10000000) and HOOKONCE_GROWTH_BACKLOG (1000000) are its sizes.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createInbox, type EventFilter, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import { metricsText } from 'hookonce/telemetry'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres.js'
import { atEnd, longRun } from '../long-run.js'
import { fill, SOURCES } from './fill.js'

const events = Number(process.env.HOOKONCE_GROWTH_EVENTS ?? 10_000_000)
const backlog = Number(process.env.HOOKONCE_GROWTH_BACKLOG ?? 1_000_000)
const DAY_MS = 86_400_000

interface Measured {
  readonly step: string
  readonly medianMs: number
  readonly worstMs: number
  readonly note: string
}
const table: Measured[] = []

await longRun(main)

async function main(): Promise<boolean> {
  const server = await startPostgres({
    settings: {
      shared_buffers: '512MB',
      max_wal_size: '8GB',
      checkpoint_timeout: '30min',
      shared_preload_libraries: 'pg_stat_statements',
    },
  })
  atEnd(() => server.remove())
  const store = postgres({ url: server.url, statementTimeout: 120_000 })
  await store.migrate()
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  await client.connect()
  await client.query('create extension pg_stat_statements')
  await client.query('create extension pgstattuple')
  const began = performance.now()
  await fill(client, events, backlog)
  console.log(`filled in ${((performance.now() - began) / 1_000).toFixed(0)} s`)
  const text = async (sql: string) => (await client.query<{ v: string }>(sql)).rows[0]!.v
  console.log(
    'sizes',
    await text(
      `select string_agg(relname || ' ' || pg_size_pretty(pg_total_relation_size(oid)), ', ' order by pg_total_relation_size(oid) desc)
     as v from pg_class where relnamespace = 'hookonce'::regnamespace and relkind = 'r' and pg_total_relation_size(oid) > 1e6`,
    ),
  )

  let n = 0
  await measure('record 64 new', 20, () => store.record(batch(() => `new_${n++}`)))
  await measure('record 64 known, from all over the log', 20, () =>
    store.record(batch(() => `evt_${md5(1 + Math.floor(Math.random() * events))}`)),
  )
  const inbox = createInbox({
    store,
    log: silentLog,
    sources: Object.fromEntries(
      Array.from({ length: SOURCES }, (_, i) => [
        `source-${i}`,
        unverified({ id: 'json:id', type: 'json:type' }),
      ]),
    ),
    processing: false,
    ownsStore: false,
  })
  await measure('claim 100', 20, () => claimAndSettle())
  for (const [name, filter] of Object.entries(filters())) {
    let found = ''
    await measure(`list: ${name}`, 5, async () => {
      const page = await store.list(filter, { limit: 50 })
      found = `${page.events.length} rows${page.cut ? ', cut' : ''}`
      return found
    })
  }
  await measure('stats', 5, () => store.stats())
  await measure('ping (/readyz)', 5, () => store.ping())
  await measure('metrics (/metrics)', 5, () => metricsText(inbox))
  await measure('inspect (doctor)', 1, () => store.inspect.report())
  await measure('retention: 1,000 events of a source', 5, () =>
    store.retention.prune({ source: 'source-1', eventsBefore: Date.now() - 30 * DAY_MS, limit: 1_000 }),
  )
  await measure('vacuum work', 1, () => client.query('vacuum hookonce.work'))
  await measure('vacuum events', 1, () => client.query('vacuum hookonce.events'))

  // A report or a backup that stays open: rows that are removed from work cannot be reclaimed.
  const reader = new pg.Client({ connectionString: server.url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read; select 1 from hookonce.work limit 1')
  const sizes: string[] = []
  const rounds = Math.min(500, Math.floor(backlog / 200))
  for (let round = 0; round <= rounds; round++) {
    if (round % Math.ceil(rounds / 5) === 0) {
      await client.query('vacuum hookonce.work')
      const bloat = await client.query<{ dead: string; pages: string }>(
        `select dead_tuple_count as dead, pg_size_pretty(pg_total_relation_size('hookonce.work')) as pages
         from pgstattuple('hookonce.work')`,
      )
      const from = performance.now()
      await claimAndSettle()
      const { dead, pages } = bloat.rows[0]!
      sizes.push(
        `${round * 100} handled: ${dead} dead rows, ${pages}, claim and settle 100 in ${Math.round(performance.now() - from)} ms`,
      )
    } else await claimAndSettle()
  }
  console.log(`with a transaction open:\n  ${sizes.join('\n  ')}`)
  await reader.query('commit')
  await reader.end()
  await client.query('vacuum hookonce.work')
  await measure('claim and settle 100 after it ended and a vacuum', 5, () => claimAndSettle())

  console.table(table)
  const { rows: slow } = await client.query(
    `select calls::int, round(mean_exec_time::numeric, 1) as mean_ms, round(max_exec_time::numeric) as max_ms,
       (shared_blks_hit + shared_blks_read) / calls as blocks, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as statement
     from pg_stat_statements where query ~ 'hookonce' and query !~ '^(insert into hookonce.(events|payloads|work|hours|dup).*generate|vacuum|create|drop)'
     order by mean_exec_time desc limit 15`,
  )
  console.table(slow)
  await inbox.stop()
  await store.close()
  await client.end()
  return true

  async function claimAndSettle(): Promise<number> {
    const claimed = await store.claim({ worker: 'growth', limit: 100, leaseMs: 60_000 })
    const outcome = { kind: 'succeeded' } as const
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome, durationMs: 1 })))
    return claimed.length
  }
}

function filters(): Record<string, EventFilter> {
  return {
    'no filter': {},
    source: { source: 'source-3' },
    'event id': { id: `evt_${md5(12_345)}` },
    'source and event id': { source: `source-${12_345 % SOURCES}`, id: `evt_${md5(12_345)}` },
    type: { type: 'order.7' },
    'type that is not there': { type: 'order.nowhere' },
    'type as a glob': { type: 'order.4*' },
    reference: { reference: 'customer 777' },
    'state pending': { state: 'pending' },
    'state processing': { state: 'processing' },
    'state succeeded': { state: 'succeeded' },
    'state ignored': { state: 'ignored' },
    'state failed': { state: 'failed' },
    'dead letters': { dead: true },
    'waiting for a retry': { dead: false },
    'dead letters of a source': { dead: true, source: 'source-7' },
    reason: { reason: 'no_handler' },
    'a day 40 days ago': { from: Date.now() - 40 * DAY_MS, to: Date.now() - 39 * DAY_MS },
    'type and day': { type: 'order.7', from: Date.now() - 40 * DAY_MS, to: Date.now() - 39 * DAY_MS },
    'source, type and state': { source: 'source-7', type: 'order.7', state: 'succeeded' },
    duplicates: { hasDuplicates: true },
    conflicts: { hasConflict: true },
    flagged: { flagged: true },
  }
}

function md5(of: number): string {
  return createHash('md5').update(String(of)).digest('hex')
}

function batch(id: () => string): NewDelivery[] {
  return Array.from({ length: 64 }, () => {
    const eventId = id()
    const contentHash = createHash('sha256').update(eventId).digest()
    const source = `source-${Math.floor(Math.random() * SOURCES)}`
    const event = { id: eventId, type: 'order.1', reference: randomUUID(), contentHash, guardHash: null }
    return {
      source,
      headers: {},
      body: Buffer.alloc(300, 120),
      events: [event],
      contentGuard: 'accept' as const,
    }
  })
}

async function measure(step: string, times: number, run: () => Promise<unknown>): Promise<void> {
  const took: number[] = []
  let last: unknown
  for (let i = 0; i < times; i++) {
    const from = performance.now()
    last = await run()
    took.push(performance.now() - from)
  }
  took.sort((a, b) => a - b)
  const note = typeof last === 'string' && last.length < 40 ? last : ''
  const row = { step, medianMs: tenths(took[Math.floor(times / 2)]!), worstMs: tenths(took.at(-1)!), note }
  table.push(row)
  console.log(JSON.stringify(row))
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
