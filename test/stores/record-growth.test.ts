/** The cost of record grows with the size of its batch: not with its square, and not with the length of the log. */
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { expect, test } from 'vitest'
import { foldBatch } from '#dist/stores/postgres/record-batch.js'
import { freshDatabase } from '../support/database.js'

test('known ids are looked up one by one in the unique index, in a log that has grown since the plan was made', async () => {
  const database = await freshDatabase()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  const store = postgres(database.url)
  const delivery = (n: number) => ({
    source: 'shop',
    headers: {},
    body: Buffer.from('x'),
    events: [{ eventId: `e${n}`, eventType: 'x', reference: null, contentHash: null, guardHash: null }],
    onReplayedContent: 'review' as const,
  })
  try {
    await store.migrate()
    // The statement is planned now, while the log is empty.
    await store.record([delivery(0)])
    await outside.query(`
      insert into hookonce.events (batch, received_at, source, event_id, event_type)
      select 1, now(), 'shop', 'e' || n, 'x' from generate_series(1, 100000) n`)
    const rowsRead = async (): Promise<number> => {
      const { rows } = await outside.query(
        `select (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('events', 'work'))::float8
           + (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('events', 'work'))::float8 as n`,
      )
      return rows[0].n
    }
    const before = await rowsRead()
    const known = Array.from({ length: 64 }, (_, i) => delivery(1 + i * 1_500))
    const verdicts = await store.record(known)
    expect(verdicts.every(([verdict]) => verdict!.status === 'duplicate')).toBe(true)
    // The server counts what a connection did when it ends.
    await store.close()
    for (;;) {
      const { rowCount } = await outside.query(
        `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend'`,
      )
      if (rowCount === 0) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect((await rowsRead()) - before).toBeLessThan(64 * 10)
  } finally {
    await store.close()
    await outside.end()
    await database.drop()
  }
})

test('the work of folding a batch grows with its size', () => {
  let reads = 0
  const readsOf = (size: number): number => {
    reads = 0
    const deliveries = Array.from({ length: size }, (_, n) => ({
      source: 'shop',
      headers: {},
      body: Buffer.from('x'),
      events: [
        {
          // Each id is there twice.
          get eventId() {
            reads++
            return `e${n >> 1}`
          },
          eventType: 'x',
          reference: null,
          contentHash: null,
          guardHash: null,
        },
      ],
      onReplayedContent: 'review' as const,
    }))
    expect(foldBatch(deliveries).repeats).toHaveLength(size / 2)
    return reads
  }
  expect(readsOf(2_000)).toBeLessThan(2_000 * 5)
  expect(readsOf(4_000)).toBe(2 * readsOf(2_000))
})
