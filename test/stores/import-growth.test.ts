/** The cost of an import grows with its rows, and not with the length of the log. */

import { postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { freshDatabase } from '../support/database.js'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const batches = 6
const size = 1_000

const batch = (n: number, payload: Uint8Array | null) =>
  Array.from({ length: size }, (_, i) => ({
    source: 'shop',
    id: `e${n}_${i}`,
    type: 'order.paid',
    reference: null,
    // In no order of time, as in most hand-written tables with a random key.
    receivedAt: Date.UTC(2026, 0, 1) + ((i * 37) % 90) * DAY_MS,
    processedAt: null,
    state: 'succeeded' as const,
    reason: null,
    payload: payload && { headers: {}, body: payload },
  }))

async function onLog(use: (store: CompleteStore, outside: pg.Client) => Promise<void>): Promise<void> {
  const database = await freshDatabase()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  const store = postgres(database.url)
  try {
    await store.migrate()
    await use(store, outside)
  } finally {
    await store.close()
    await outside.end()
    await database.drop()
  }
}

test('an import into a log whose statistics are those of an empty one reads no rows of other events', () =>
  onLog(async (store, outside) => {
    await outside.query('analyze')
    for (let n = 0; n < batches; n++)
      expect(await store.imports!.add(batch(n, null))).toEqual(Array(size).fill(true))
    expect(await store.imports!.add(batch(0, null))).toEqual(Array(size).fill(false))
    await store.close()
    // The server counts what a connection did when it ends.
    await expect
      .poll(async () => {
        const { rows } = await outside.query(
          `select n_tup_ins::int as n from pg_stat_user_tables where relname = 'events'`,
        )
        return rows[0].n
      })
      .toBe(batches * size)
    const { rows } = await outside.query(
      `select (select sum(seq_tup_read) from pg_stat_user_tables where relname = 'events')::float8
       + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'events')::float8 as n`,
    )
    // Those that were known, and not all of the log for each row of each batch.
    expect(rows[0].n).toBeLessThan(batches * size)
  }))

test('the partitions of payloads are made when one is missing, and not asked for again', () =>
  onLog(async (store, outside) => {
    const body = Buffer.from('{"id":1}')
    for (let n = 0; n < 3; n++)
      expect(await store.imports!.add(batch(n, body))).toEqual(Array(size).fill(true))
    const { rows } = await outside.query('select count(*)::int as n from hookonce.payloads')
    expect(rows[0].n).toBe(3 * size)
    // A partition that retention has dropped meanwhile is made again.
    const { rows: partitions } = await outside.query(
      `select name from hookonce.payload_partitions() where low <= '2026-02-15' and high > '2026-02-15'`,
    )
    await outside.query(`drop table hookonce."${partitions[0].name}"`)
    expect(await store.imports!.add(batch(3, body))).toEqual(Array(size).fill(true))
  }))

test('a batch in no order of time changes the totals of its source once, and each hour once', () =>
  onLog(async (store, outside) => {
    const scattered = (n: number) =>
      batch(n, null).map((event, i) => ({ ...event, receivedAt: event.receivedAt + (i % 24) * HOUR_MS }))
    for (let n = 0; n < batches; n++) await store.imports!.add(scattered(n))
    await store.close()
    const changes = async (table: string) => {
      const { rows } = await outside.query(
        `select (n_tup_ins + n_tup_upd)::int as n from pg_stat_user_tables where relname = $1`,
        [table],
      )
      return rows[0].n as number
    }
    const hours = new Set(scattered(0).map(({ receivedAt }) => Math.floor(receivedAt / HOUR_MS))).size
    expect(hours).toBeGreaterThan(300)
    // The server counts what a connection did when it ends.
    await expect.poll(() => changes('hours')).toBe(batches * hours)
    await expect.poll(() => changes('totals')).toBe(batches)
    const { rows } = await outside.query(
      `select (select sum(recorded) from hookonce.totals)::int as totals, (select sum(recorded) from hookonce.hours)::int as hours,
         (select count(*) from hookonce.spans)::int as spans`,
    )
    expect(rows[0]).toEqual({ totals: batches * size, hours: batches * size, spans: hours })
  }))

test('hours of several sources that are added, changed, folded and removed leave the right totals and spans', () =>
  onLog(async (store, outside) => {
    const sums = async (table: string) => {
      const { rows } = await outside.query(
        `select source, sum(recorded)::int as recorded, sum(ignored)::int as ignored, sum(dead)::int as dead
         from hookonce.${table} group by source having sum(recorded) + sum(ignored) + sum(dead) <> 0 order by source`,
      )
      return rows
    }
    const right = async () => {
      expect(await sums('totals')).toEqual(await sums('hours'))
      const { rows } = await outside.query(
        `select h.* from hookonce.hours h where not exists (select 1 from hookonce.spans s
           where s.hour = h.hour and s.first_seq <= h.first_seq and s.last_seq >= h.last_seq)`,
      )
      expect(rows).toEqual([])
    }
    const upsert = (seq: number) =>
      outside.query(`
        insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
        select 'source ' || s, '2026-01-01'::timestamptz + n * interval '1 hour', slot, 5, 1, 2, ${seq} + n, ${seq} + n + 10
        from generate_series(1, 3) s, generate_series(1, 200) n, generate_series(0, 2) slot where (n + s + ${seq}) % 3 > 0
        on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
          ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead,
          first_seq = least(h.first_seq, excluded.first_seq), last_seq = greatest(h.last_seq, excluded.last_seq)`)
    for (const seq of [5_000, 4_000, 7_001]) {
      await upsert(seq)
      await right()
    }
    const before = await sums('totals')
    await store.retention.maintain({ payloadsBefore: {} })
    await right()
    expect(await sums('totals')).toEqual(before)
    await outside.query(`update hookonce.hours set dead = dead - 1, ignored = ignored + 1 where slot = 0`)
    await right()
    await outside.query(`delete from hookonce.hours where source <> 'source 2'`)
    await right()
    await outside.query(`delete from hookonce.hours`)
    expect(await sums('totals')).toEqual([])
  }))
