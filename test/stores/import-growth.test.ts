/** The cost of an import grows with its rows, and not with the length of the log. */
import type { CompleteStore } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { expect, test } from 'vitest'
import { freshDatabase } from '../support/database.js'

const DAY_MS = 86_400_000
const batches = 6
const size = 1_000

const batch = (n: number, payload: Uint8Array | null) =>
  Array.from({ length: size }, (_, i) => ({
    source: 'shop',
    eventId: `e${n}_${i}`,
    eventType: 'order.paid',
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
