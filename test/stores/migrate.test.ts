/** Migrations on both stores. The ones after the first exist only in these tests. */
import type { MigrationReport } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { migrations as postgresMigrations } from '#dist/stores/postgres/schema.js'
import { openConnection } from '#dist/stores/sqlite/connection.js'
import { migrate } from '#dist/stores/sqlite/migrate.js'
import { migrations as sqliteMigrations } from '#dist/stores/sqlite/schema.js'
import { startChild } from '../support/child.js'
import { delivery } from '../support/delivery.js'
import { postgresSchemaLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { addMigration } from '../support/migrations.js'
import { rows } from '../support/processing.js'

const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: () => postgresSchemaLog(),
}

test('the stores have the same migrations', () => {
  const named = (list: typeof sqliteMigrations) => list.map(({ number, name }) => [number, name])
  expect(named(sqliteMigrations)).toEqual(named(postgresMigrations))
})

describe.each(Object.entries(logs))('migrations on %s', (name, makeLog) => {
  test('several processes that migrate at once all succeed, and each migration is applied and noted once', async () => {
    for (let round = 0; round < rounds; round++) {
      const log = await makeLog()
      const children = Array.from({ length: 4 }, () => startChild('./migrating-child.mjs', log.args))
      await Promise.all(children.map((child) => child.said(1)))
      for (const child of children) child.tell('go')
      expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0, 0, 0])
      const reports = children.map((child) => JSON.parse(child.lines[1] ?? '') as MigrationReport)
      const next = postgresMigrations.length + 1
      expect(reports.map(({ to }) => to)).toEqual([next, next, next, next])
      const applied = reports.flatMap((report) => report.applied).sort((a, b) => a - b)
      expect(applied).toEqual(Array.from({ length: next }, (_, i) => i + 1))
      const noted = await rows(
        log,
        'select number, name, compatible_from, version from log.migrations order by number',
      )
      const version = expect.stringMatching(/^\d+\.\d+\.\d+/)
      expect(noted.map((row) => ({ ...row }))).toEqual([
        ...postgresMigrations.map(({ number, name, compatibleFrom = 1 }) => ({
          number,
          name,
          compatible_from: compatibleFrom,
          version,
        })),
        { number: next, name: 'next', compatible_from: next, version },
      ])
      await log.remove()
    }
  })

  const appliedAt = name === 'SQLite' ? '1700000000000' : 'to_timestamp(1700000000)'
  /** As a newer hookonce leaves it. */
  const newer = (number: number, compatibleFrom: number) =>
    `insert into log.migrations (number, name, applied_at, compatible_from, version)
     values (${number}, 'from the future', ${appliedAt}, ${compatibleFrom}, '99.1.0')`

  test('a process that restarts on a newer schema goes on working, where the migration says that it can', async () => {
    const log = await makeLog()
    const store = log.open()
    const { to } = await store.migrate()
    await store.close()
    await log.sql(newer(to + 1, 1))
    await log.sql(newer(to + 2, to))
    const older = log.open()
    expect(await older.migrate()).toEqual({ from: to + 2, to: to + 2, applied: [] })
    expect(await older.record([delivery('e1')])).toMatchObject([[{ status: 'recorded' }]])
    expect(await older.claim({ worker: 'w', limit: 1, leaseMs: 1_000 })).toHaveLength(1)
    expect((await older.inspect.report()).schema).toEqual({ found: to + 2, known: to, needed: to })
    await older.close()
    await log.remove()
  })

  test('a schema that needs a newer hookonce is refused, even when a later migration would not need it', async () => {
    const log = await makeLog()
    const store = log.open()
    const { to } = await store.migrate()
    await store.close()
    await log.sql(newer(to + 1, to + 1))
    await log.sql(newer(to + 2, 1))
    const older = log.open()
    const refused = { code: 'SCHEMA_NEWER', message: expect.stringContaining('hookonce 99.1.0 or later') }
    await expect(older.migrate()).rejects.toMatchObject(refused)
    expect((await older.inspect.report()).schema).toEqual({ found: to + 2, known: to, needed: to + 1 })
    await older.close()
    await log.remove()
  })
})

/** Inserts one row each time, until there are five. */
const portion = (table: string) =>
  `insert into ${table} (source, seq) select 'portion ' || count(*), 1 from ${table} having count(*) < 5;`

test('on PostgreSQL each portion of a migration is a transaction', async () => {
  const log = await postgresSchemaLog()
  const store = log.open()
  await store.migrate()
  const number = addMigration(postgresMigrations, { sql: portion('hookonce.pruned'), portions: true })
  expect(await store.migrate()).toEqual({ from: number - 1, to: number, applied: [number] })
  expect(
    await rows(
      log,
      'select count(*)::int as n, count(distinct xmin::text)::int as transactions from log.pruned',
    ),
  ).toEqual([{ n: 5, transactions: 5 }])
  expect((await store.migrate()).applied).toEqual([])
  await store.close()
  await log.remove()
})

test('on SQLite a migration in portions runs until it changes no row', async () => {
  const log = await sqliteLog()
  const connection = openConnection({ path: log.args[1]!, busyTimeoutMs: 1_000, readOnly: false })
  migrate(connection)
  const number = addMigration(sqliteMigrations, { sql: portion('hookonce_pruned'), portions: true })
  expect(migrate(connection)).toEqual({ from: number - 1, to: number, applied: [number] })
  expect(connection.db.prepare('select count(*) as n from hookonce_pruned').get()).toEqual({ n: 5 })
  expect(migrate(connection).applied).toEqual([])
  connection.close()
  await log.remove()
})
