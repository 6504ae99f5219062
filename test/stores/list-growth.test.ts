/**
 * Lists of a long log: a filter is answered from an index, or the page says that the search was cut. The rows are made by
 * SQL; HOOKONCE_TEST_ROWS makes the log longer, and the slowest calls are then printed.
 */
import type { EventFilter, Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { type SharedLog, sqliteLog } from '../support/logs.js'

const ROWS = Number(process.env.HOOKONCE_TEST_ROWS ?? 120_000)
/** The newer half waits. */
const BACKLOG = Math.floor(ROWS / 2)
const BASE = Date.UTC(2026, 0, 1)
const STEP_MS = 100
/** What a call may look at, and some for what it looks at twice. */
const LOOKED_AT_MOST = 10_000

/** Events of a backlog that are counted by one statement. */
const PORTION_AT_MOST = 100_000

/** The few that are not like the others are the oldest: whoever walks from the newest meets them last. */
const filters: Readonly<Record<string, EventFilter>> = {
  id: { id: 'e3' },
  reference: { reference: 'ref-3' },
  processing: { state: 'processing' },
  retrying: { state: 'failed', dead: false },
  dead: { state: 'failed', dead: true },
  failed: { state: 'failed' },
  ignored: { state: 'ignored' },
  reason: { reason: 'card declined' },
  'reason of a retry': { reason: 'timed out' },
  duplicates: { hasDuplicates: true },
  conflict: { hasConflict: true },
  type: { type: 'rare.type' },
  glob: { type: 'rare.*' },
  source: { source: 'tiny' },
  time: { from: BASE, to: BASE + 3_600_000 },
}
const found: Readonly<Record<string, readonly string[]>> = {
  id: ['e3'],
  reference: ['e3'],
  processing: ['e1'],
  retrying: ['e2'],
  dead: ['e4'],
  failed: ['e4', 'e2'],
  ignored: ['e5'],
  reason: ['e4'],
  'reason of a retry': ['e2'],
  duplicates: ['e7', 'e6'],
  conflict: ['e7'],
  type: ['e8'],
  glob: ['e8'],
  source: ['e9'],
}
/** In no index: these are cut. */
const without: readonly EventFilter[] = [
  { state: 'pending', source: 'tiny' },
  { hasConflict: false, hasDuplicates: true, state: 'pending' },
]

/** In no index either, but behind a backlog that is passed over. The newest finished events are just below it. */
const behind: readonly EventFilter[] = [
  { state: 'succeeded' },
  { state: 'succeeded', source: 'shop' },
  { state: 'succeeded', type: 'order.paid' },
  { state: 'succeeded', from: BASE },
]

const special = (n: string, other: string) => `
  case ${n} when 9 then 'tiny' else 'shop' end, 'e' || ${n}, case ${n} when 8 then 'rare.type' else 'order.paid' end,
  case ${n} when 3 then 'ref-3' end, ${other}`

const asSqlite = `
  with recursive n (n) as (select 1 union all select n + 1 from n where n < ${ROWS})
  insert into log.events (seq, source, event_id, event_type, related_reference, received_at, part, processing_state, parked, reason)
  select n, ${special('n', `${BASE} + n * ${STEP_MS}, 0`)},
    case when n = 4 then 'failed' when n = 5 then 'ignored' when n in (1, 2) or n > ${BACKLOG} then 'pending' else 'succeeded' end,
    case n when 4 then 'dead' when 5 then 'ignored' end, case n when 4 then 'card declined' when 5 then 'unhandled' end
  from n;
  insert into log.work (seq, source, next_at, attempt, base_attempt)
  select seq, source, 1, 0, 0 from log.events where seq > ${BACKLOG};
  insert into log.work (seq, source, next_at, attempt, base_attempt, token, worker, claimed_at)
  values (1, 'shop', 9e15, 1, 0, 'held', 'w', 1), (2, 'shop', 9e15, 1, 0, null, null, null);
  insert into log.attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail)
  values (2, 1, 1, 'w', 1, 1, 'failed', 'timed out');
  insert into log.duplicates (seq, count, first_at, last_at, conflicts) values (6, 1, 1, 1, 0), (7, 1, 1, 1, 1);
  insert into log.conflicts (seq, hash, number, source, first_at, at, part) values (7, x'01', 1, 'shop', 1, 1, 0);
  insert into log.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, received_at / 3600000, 0, count(*), 0, 0, min(seq), max(seq) from log.events group by 1, 2`

const asPostgres = `
  insert into hookonce.events (seq, batch, source, event_id, event_type, related_reference, received_at, parked, reason)
  select n, 1, ${special('n', `to_timestamp(${BASE} / 1000.0) + n * interval '${STEP_MS} ms'`)},
    case n when 4 then 'dead' when 5 then 'ignored' end, case n when 4 then 'card declined' when 5 then 'unhandled' end
  from generate_series(1, ${ROWS}) n;
  insert into hookonce.work (seq, source, next_at) select seq, source, now() from hookonce.events where seq > ${BACKLOG};
  insert into hookonce.work (seq, source, next_at, attempt, token, worker, claimed_at)
  values (1, 'shop', now() + interval '1 day', 1, gen_random_uuid(), 'w', now()),
    (2, 'shop', now() + interval '1 day', 1, null, null, null);
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail)
  values (2, 1, 1, 'w', now(), now(), 'failed', 'timed out');
  insert into hookonce.duplicates (seq, count, first_at, last_at, conflicts) values (6, 1, now(), now(), 0), (7, 1, now(), now(), 1);
  insert into hookonce.conflicts (seq, hash, source, first_at, at, part) values (7, '1', 'shop', now(), now(), 0);
  insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), 0, count(*), 0, 0, min(seq), max(seq)
  from hookonce.events group by 1, 2`

const slowest: [ms: number, what: string][] = []
afterAll(() => {
  if (process.env.HOOKONCE_TEST_ROWS === undefined) return
  for (const [ms, what] of slowest.sort(([a], [b]) => b - a).slice(0, 20))
    console.log(ms.toFixed(1), 'ms', what)
})

async function timed(store: Store, filter: EventFilter, limit = 50) {
  const startedAt = performance.now()
  const page = await store.list(filter, { limit })
  slowest.push([
    performance.now() - startedAt,
    `${store.name} ${JSON.stringify(filter)} ${page.cut ? 'cut' : ''}`,
  ])
  return page
}

async function everyFilter(store: Store): Promise<void> {
  for (const [name, filter] of Object.entries(filters)) {
    const { events, cut } = await timed(store, filter)
    if (name in found) expect([name, events.map((event) => event.id)]).toEqual([name, found[name]])
    expect([name, cut]).toEqual([name, undefined])
  }
}

/** How many calls it took. A pair is answered, or its page is cut. */
async function everyPair(store: Store): Promise<number> {
  let calls = 0
  for (const [i, [, one]] of Object.entries(filters).entries()) {
    for (const [, two] of Object.entries(filters).slice(i + 1)) {
      if (Object.keys(one).some((key) => key in two)) continue
      const { events, next, cut } = await timed(store, { ...one, ...two })
      calls++
      if (cut) expect(next).not.toBeNull()
      else if (events.length < 50) expect(next).toBeNull()
    }
  }
  return calls
}

async function everyCut(store: Store): Promise<void> {
  for (const filter of without) {
    const first = await timed(store, filter)
    expect([filter, first.events, first.cut]).toEqual([filter, [], true])
    expect(first.next).not.toBeNull()
    const second = await store.list(filter, { cursor: first.next })
    expect(second.next).not.toBe(first.next)
  }
}

async function everyBehind(store: Store): Promise<void> {
  const newest = Array.from({ length: 50 }, (_, i) => `e${BACKLOG - i}`)
  for (const filter of behind) {
    const { events, next } = await timed(store, filter)
    expect([filter, events.map(({ id }) => id)]).toEqual([filter, newest])
    const { events: older } = await store.list(filter, { limit: 1, cursor: next })
    expect(older[0]?.id).toBe(`e${BACKLOG - 50}`)
  }
}

describe('SQLite', () => {
  let log: SharedLog
  let store: ReturnType<typeof sqlite>
  beforeAll(async () => {
    log = await sqliteLog()
    store = sqlite(log.args[1]!)
    await store.migrate()
    await log.sql(asSqlite)
  }, 600_000)
  afterAll(async () => {
    await store.close()
    await log.remove()
  })

  test('every filter alone finds an old event at once', () => everyFilter(store), 120_000)
  test('every pair is answered or cut', async () => {
    expect(await everyPair(store)).toBeGreaterThan(60)
  }, 300_000)
  test('a search that no index serves says that it was cut, and goes on at its cursor', () => everyCut(store))
  test('finished events behind a backlog are on the first page', () => everyBehind(store))
})

describe('PostgreSQL', () => {
  let database: TestDatabase
  let outside: pg.Client
  beforeAll(async () => {
    database = await freshDatabase()
    outside = new pg.Client({ connectionString: database.url })
    await outside.connect()
    const store = postgres(database.url)
    await store.migrate()
    await store.close()
    await outside.query(asPostgres)
    for (const table of ['events', 'work', 'hours', 'totals'])
      await outside.query(`vacuum analyze hookonce.${table}`)
  }, 600_000)
  afterAll(async () => {
    await outside.end()
    await database.drop()
  })

  /** Rows that `run` makes the server read, counted when its connections end. */
  async function rowsRead(run: (store: Store) => Promise<unknown>): Promise<number> {
    const read = async () => {
      for (;;) {
        const { rowCount } = await outside.query(
          `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and backend_type = 'client backend'`,
        )
        if (rowCount === 0) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const { rows } = await outside.query(
        `select (select sum(seq_tup_read) from pg_stat_user_tables)::float8
           + (select sum(idx_tup_read) from pg_stat_user_indexes)::float8 as n`,
      )
      return rows[0].n as number
    }
    const before = await read()
    const store = postgres(database.url)
    try {
      await run(store)
    } finally {
      await store.close()
    }
    return (await read()) - before
  }

  test('every filter alone finds an old event at once', async () => {
    const rows = await rowsRead(everyFilter)
    expect(rows / Object.keys(filters).length).toBeLessThan(1_000)
  })

  test('every pair is answered or cut, and reads a bounded number of rows', async () => {
    let calls = 0
    const rows = await rowsRead(async (store) => {
      calls = await everyPair(store)
    })
    expect(calls).toBeGreaterThan(60)
    expect(rows / calls).toBeLessThan(LOOKED_AT_MOST / 2)
  }, 300_000)

  test('a search that no index serves says that it was cut, and goes on at its cursor', async () => {
    const rows = await rowsRead(everyCut)
    // Two calls each; a row is met in the index that is walked, in the log, and in one table beside it.
    expect(rows).toBeLessThan(without.length * 2 * 5 * LOOKED_AT_MOST)
  })

  test('finished events behind a backlog are on the first page', async () => {
    const rows = await rowsRead(everyBehind)
    // Each event of the backlog is counted in two indexes; the portion with its end is counted again in smaller parts.
    expect(rows / behind.length).toBeLessThan(2 * BACKLOG + 2 * PORTION_AT_MOST)
  })
})
