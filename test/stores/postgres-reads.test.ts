import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { delivery } from '../support/delivery.js'

let database: TestDatabase
let outside: pg.Client
let store: ReturnType<typeof postgres>

beforeEach(async () => {
  database = await freshDatabase()
  outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  store = postgres({ url: database.url, statementTimeout: 3_000 })
  await store.migrate()
})
afterEach(async () => {
  await store.close()
  await outside.end()
  await database.drop()
})

/** Other connections to this database. */
async function others(condition = 'true'): Promise<number> {
  const { rows } = await outside.query(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and (${condition})`,
  )
  return rows[0].n
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 6_000; tries++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('It did not happen within a minute.')
}

test('reads that hang take no connection from intake, and the server ends them itself', async () => {
  await store.record([delivery('first')])
  // Every list and get looks at this table; recording something new does not.
  const locking = new pg.Client({ connectionString: database.url })
  locking.on('error', () => {})
  await locking.connect()
  await locking.query('begin; lock table hookonce.duplicates in access exclusive mode')
  let isOver = false
  // Again and again, so that they hang however long the intake takes.
  const reads = Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      do {
        const read = i % 2 === 0 ? store.get({ source: 'shop', id: 'first' }) : store.list({})
        await expect(read).rejects.toMatchObject({ code: 'STORE_BUSY' })
      } while (!isOver)
    }),
  )
  await until(async () => (await others(`wait_event_type = 'Lock'`)) > 0)
  for (let i = 0; i < 20; i++) {
    expect(await store.record([delivery(`e${i}`)])).toMatchObject([[{ status: 'recorded' }]])
    expect(await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000, sources: ['shop'] })).toHaveLength(1)
  }
  isOver = true
  await reads
  await until(async () => (await others(`wait_event_type = 'Lock'`)) === 0)
  await locking.end()
  expect((await store.list({})).events).toHaveLength(21)
})

test('a read leaves nothing behind on its connection', async () => {
  await store.list({})
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  const beside = postgres({ pool, maxConnections: 1 })
  try {
    await expect(beside.get({ source: 'shop', id: 'none' })).resolves.toBeNull()
    expect(await others(`state like 'idle in transaction%'`)).toBe(0)
  } finally {
    await beside.close()
    await pool.end()
  }
})

test('a type pattern is matched against a bounded number of the types there are', async () => {
  await outside.query(`
    insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
    values ('shop', date_trunc('hour', now()), 0, 6000, 0, 0, 1, 6000);
    insert into hookonce.events (batch, received_at, source, event_id, event_type)
    select 1, now(), 'shop', 'e' || n, case when n % 100 = 0 then 'paid.' else 'type.' end || n
    from generate_series(1, 6000) n`)
  await store.close()
  const scans = async () => {
    // The server counts what a connection did when it ends.
    await until(async () => (await others(`backend_type = 'client backend'`)) === 0)
    const { rows } = await outside.query(
      `select idx_scan::int as n from pg_stat_user_indexes where indexrelname = 'events_by_type'`,
    )
    return rows[0].n as number
  }
  const before = await scans()
  store = postgres({ url: database.url })
  const found: string[] = []
  for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages++) {
    const page = await store.list({ type: '*.100' }, { cursor })
    found.push(...page.events.map((event) => event.type))
    cursor = page.next
  }
  // Few types begin like this: they are walked by themselves.
  expect((await store.list({ type: 'paid.*' }, { limit: 500 })).events).toHaveLength(60)
  expect((await store.list({ type: 'type.77' })).events.map((event) => event.id)).toEqual(['e77'])
  await store.close()
  expect(found).toEqual(['paid.100'])
  expect((await scans()) - before).toBeLessThan(1_500)
  store = postgres({ url: database.url })
})
