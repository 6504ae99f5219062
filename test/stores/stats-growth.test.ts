/** Statistics cost the same, however much there is. */
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import { expect, test } from 'vitest'
import { freshDatabase } from '../support/database.js'
import { sqliteLog } from '../support/logs.js'

const SOURCES = 100
const DAYS = 90
const SLOTS = 12
const BACKLOG = 300_000

test('PostgreSQL reads no counter of a past hour and a bounded part of the backlog', async () => {
  const database = await freshDatabase()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  try {
    let store = postgres(database.url)
    await store.migrate()
    await store.close()
    // Row by row the trigger would take long; the sums are made as the migration makes them.
    await outside.query(`
      alter table hookonce.hours disable trigger user;
      insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
      select 's' || s, date_trunc('hour', now()) - d * interval '1 day', slot, 10, 1, 1, 1, 1000
      from generate_series(1, ${SOURCES}) s, generate_series(1, ${DAYS}) d, generate_series(0, ${SLOTS - 1}) slot;
      insert into hookonce.totals select source, 0, sum(recorded), sum(ignored), sum(dead) from hookonce.hours group by 1;
      alter table hookonce.hours enable trigger user;
      insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
      values ('busy', date_trunc('hour', now()), 0, ${BACKLOG + 5}, 0, 0, 1, ${BACKLOG + 5});
      insert into hookonce.work (seq, source, next_at) select n, 'busy', now() from generate_series(1, ${BACKLOG}) n;
      analyze hookonce.work, hookonce.totals, hookonce.hours`)
    const others = async () =>
      (
        await outside.query(
          `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and backend_type = 'client backend'`,
        )
      ).rowCount
    /** Rows read so far, counted by the server when a connection ends. */
    const rowsRead = async (table: string): Promise<number> => {
      while ((await others()) !== 0) await new Promise((resolve) => setTimeout(resolve, 10))
      const { rows } = await outside.query(
        `select (t.seq_tup_read + coalesce(sum(i.idx_tup_read), 0))::int as n from pg_stat_user_tables t
         left join pg_stat_user_indexes i on i.relid = t.relid where t.relname = $1 group by t.seq_tup_read`,
        [table],
      )
      return rows[0].n
    }
    const before = { hours: await rowsRead('hours'), work: await rowsRead('work') }
    store = postgres(database.url)
    const stats = await store.stats()
    await store.close()
    expect(stats).toHaveLength(SOURCES + 1)
    const each = DAYS * SLOTS
    expect(stats.find(({ source }) => source === 's7')).toEqual({
      source: 's7',
      recorded: 10 * each,
      pending: 0,
      processing: 0,
      retrying: 0,
      succeeded: 8 * each,
      ignored: each,
      dead: each,
      oldestDueAt: null,
    })
    const busy = stats.find(({ source }) => source === 'busy')!
    expect(busy).toMatchObject({ estimated: true, oldestDueAt: expect.any(Number) })
    expect(busy.pending).toBeGreaterThan(BACKLOG / 2)
    expect(busy.pending + busy.succeeded).toBe(BACKLOG + 5)
    expect((await rowsRead('hours')) - before.hours).toBe(0)
    expect((await rowsRead('work')) - before.work).toBeLessThan(120_000)
  } finally {
    await outside.end()
    await database.drop()
  }
})

test('maintenance gives the slots of past hours back, and changes no sum', async () => {
  const database = await freshDatabase()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  const store = postgres(database.url)
  try {
    await store.migrate()
    await outside.query(`
      insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
      select 's' || s, date_trunc('hour', now()) - h * interval '1 hour', slot, slot, 0, 0, h * 100 + slot, h * 100 + 50 + slot
      from generate_series(1, 5) s, generate_series(0, 60) h, generate_series(0, ${SLOTS - 1}) slot`)
    const stats = await store.stats()
    expect(stats.map(({ recorded }) => recorded)).toEqual(Array(5).fill((61 * SLOTS * (SLOTS - 1)) / 2))
    await store.retention.maintain({ payloadsBefore: {} })
    expect(await store.stats()).toEqual(stats)
    const { rows } = await outside.query(`
      select count(*) filter (where slot <> 0)::int as slots, min(first_seq)::int as first, max(last_seq)::int as last
      from hookonce.hours where hour < now() - interval '5 hours'`)
    expect(rows[0]).toEqual({ slots: 0, first: 500, last: 6050 + SLOTS - 1 })
  } finally {
    await store.close()
    await outside.end()
    await database.drop()
  }
})

test('SQLite answers from its totals, and triggers keep them', async () => {
  const log = await sqliteLog()
  const store = sqlite(log.args[1]!)
  try {
    await store.migrate()
    await log.sql(`
      with recursive n (n) as (select 1 union all select n + 1 from n where n < ${BACKLOG})
      insert into log.work (seq, source, next_at, attempt, base_attempt) select n, 'busy', 1, 0, 0 from n;
      insert into log.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
        values ('busy', 1, 0, ${BACKLOG + 5}, 0, 0, 1, ${BACKLOG + 5});
      insert into log.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
        values ('s1', 1, 0, 10, 1, 1, 1, 1), ('s1', 2, 0, 10, 1, 1, 1, 1), ('gone', 1, 0, 1, 0, 0, 1, 1);
      update log.hours set dead = 3 where source = 's1' and hour = 2;
      delete from log.hours where source = 'gone';
      delete from log.work where seq <= 5`)
    const expected = [
      { source: 'busy', recorded: BACKLOG + 5, pending: BACKLOG - 5, succeeded: 10, oldestDueAt: 1 },
      { source: 's1', recorded: 20, ignored: 2, dead: 4, succeeded: 14, oldestDueAt: null },
    ]
    expect(await store.stats()).toMatchObject(expected)
    // What is not read cannot make a difference.
    await log.sql(`drop trigger log.hours_removed; drop trigger log.work_removed;
      delete from log.hours; delete from log.work where seq > 1000`)
    expect(await store.stats()).toMatchObject(expected)
  } finally {
    await store.close()
    await log.remove()
  }
})

test('a transaction that has counted something and stays open holds up no delivery', async () => {
  const database = await freshDatabase()
  const open = new pg.Client({ connectionString: database.url })
  await open.connect()
  const store = postgres({ url: database.url, statementTimeout: 3_000 })
  const deliveries = (n: number) => [
    {
      source: 'shop',
      headers: {},
      body: Buffer.from('x'),
      events: [{ id: `e${n}`, type: 'x', reference: null, contentHash: null, guardHash: null }],
      contentGuard: 'review' as const,
    },
  ]
  try {
    await store.migrate()
    await store.record(deliveries(0))
    // In every row of totals there is, and in a slot that no process uses.
    await open.query(`begin; select 1 from hookonce.totals for update;
      insert into hookonce.hours (source, hour, slot, recorded, ignored, dead) values ('shop', now(), 1000, 1, 0, 0)`)
    for (let n = 1; n <= 20; n++)
      expect(await store.record(deliveries(n))).toMatchObject([[{ status: 'recorded' }]])
    await open.query('commit')
    expect(await store.stats()).toMatchObject([{ recorded: 22 }])
    const { rows } = await open.query('select count(*)::int as n from hookonce.totals')
    expect(rows[0].n).toBeLessThan(5)
  } finally {
    await store.close()
    await open.end()
    await database.drop()
  }
})
