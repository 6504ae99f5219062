/** A migration in portions: many small transactions instead of a long one, and the rest is left to the next process. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Migration } from 'hookonce'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { migrations as postgresMigrations } from '#dist/stores/postgres/migrations.js'
import { migrations as sqliteMigrations } from '#dist/stores/sqlite/migrations.js'

/** One row each time, until there are five. */
const portion = (table: string) =>
  `insert into ${table} (source, seq) select 'portion ' || count(*), 1 from ${table} having count(*) < 5;`
const number = postgresMigrations.at(-1)!.number + 1

test('on PostgreSQL each portion is a transaction of its own', async () => {
  const last: Migration = { number, name: 'in portions', sql: portion('hookonce.pruned'), portions: true }
  // Before the module that reads the list is loaded.
  ;(postgresMigrations as Migration[]).push(last)
  const { postgres } = await import('#dist/stores/postgres/postgres.js')
  const schema = `portions_${process.pid}`
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  const store = postgres({ url: inject('postgresUrl'), schema })
  try {
    expect((await store.migrate()).applied.at(-1)).toBe(number)
    const { rows } = await client.query(
      `select count(*)::int as rows, count(distinct xmin::text)::int as transactions from ${schema}.pruned`,
    )
    expect(rows).toEqual([{ rows: 5, transactions: 5 }])
    expect((await store.migrate()).applied).toEqual([])
  } finally {
    await store.close()
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  }
})

test('on SQLite it runs until nothing is left to change', async () => {
  const last: Migration = { number, name: 'in portions', sql: portion('hookonce_pruned'), portions: true }
  ;(sqliteMigrations as Migration[]).push(last)
  const { migrate } = await import('#dist/stores/sqlite/migrate.js')
  const { openConnection } = await import('#dist/stores/sqlite/connection.js')
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-portions-'))
  const connection = openConnection({ path: join(folder, 'log.db'), busyTimeoutMs: 1_000, readOnly: false })
  try {
    expect(migrate(connection, Date.now()).applied.at(-1)).toBe(number)
    expect(connection.db.prepare('select count(*) as n from hookonce_pruned').get()).toEqual({ n: 5 })
    expect(migrate(connection, Date.now()).applied).toEqual([])
  } finally {
    connection.close()
    await rm(folder, { recursive: true, force: true })
  }
})
