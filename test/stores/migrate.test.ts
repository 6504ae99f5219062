import type { Migration, MigrationReport } from 'hookonce'
import { describe, expect, test } from 'vitest'
import { migrations as postgresMigrations } from '#dist/stores/postgres/migrations.js'
import { migrations as sqliteMigrations } from '#dist/stores/sqlite/migrations.js'
import { startChild } from '../support/child.js'
import { postgresSchemaLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { rows } from '../support/processing.js'

const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: () => postgresSchemaLog(),
}

describe.each(Object.entries(logs))('migrations on %s', (name, makeLog) => {
  test('several processes that migrate at once all succeed, and each migration is applied once', async () => {
    for (let round = 0; round < rounds; round++) {
      const log = await makeLog()
      const children = Array.from({ length: 4 }, () => startChild('./migrating-child.mjs', log.args))
      await Promise.all(children.map((child) => child.said(1)))
      for (const child of children) child.tell('go')
      expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0, 0, 0])
      const reports = children.map((child) => JSON.parse(child.lines[1] ?? '') as MigrationReport)
      const { to } = reports[0]!
      expect(reports.every((report) => report.to === to)).toBe(true)
      const applied = reports.flatMap((report) => report.applied).sort((a, b) => a - b)
      expect(applied).toEqual(Array.from({ length: to }, (_, i) => i + 1))
      await log.remove()
    }
  })

  const appliedAt = name === 'SQLite' ? '1700000000000' : 'to_timestamp(1700000000)'
  /** As a newer hookonce leaves it. */
  const newer = (number: number, compatibleFrom: number | null) =>
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
    const event = { eventId: 'e1', eventType: 't', reference: null, contentHash: null, guardHash: null }
    const [verdicts] = await older.record([
      { source: 'shop', headers: {}, body: Buffer.from('{}'), events: [event], contentGuard: 'accept' },
    ])
    expect(verdicts).toMatchObject([{ status: 'recorded' }])
    expect(await older.claim({ worker: 'w', limit: 1, leaseMs: 1_000 })).toHaveLength(1)
    expect((await older.inspect.report()).schema).toEqual({ found: to + 2, known: to, needed: to })
    await older.close()
    await log.remove()
  })

  test('a schema that needs a newer hookonce is refused, also when a later one says nothing', async () => {
    for (const needed of [0, null]) {
      const log = await makeLog()
      const store = log.open()
      const { to } = await store.migrate()
      await store.close()
      await log.sql(newer(to + 1, needed === null ? null : to + 1))
      await log.sql(newer(to + 2, 1))
      const older = log.open()
      const refused = { code: 'SCHEMA_NEWER', message: expect.stringContaining('hookonce 99.1.0 or later') }
      await expect(older.migrate()).rejects.toMatchObject(refused)
      expect((await older.inspect.report()).schema).toEqual({ found: to + 2, known: to, needed: to + 1 })
      await older.close()
      await log.remove()
    }
  })

  test('each migration is noted with what it needs and who applied it', async () => {
    const log = await makeLog()
    const store = log.open()
    await store.migrate()
    const noted = await rows(
      log,
      'select number, compatible_from, version from log.migrations order by number',
    )
    await store.close()
    const { number } = postgresMigrations.find((one) => one.name === 'deploys')!
    const later = noted.filter((row) => Number(row.number) >= number)
    expect(later.length).toBeGreaterThan(0)
    for (const row of later) {
      const known = postgresMigrations.find((one) => one.number === Number(row.number))!
      expect(Number(row.compatible_from)).toBe(known.compatibleFrom ?? 1)
      expect(row.version).toMatch(/^\d+\.\d+\.\d+/)
    }
    await log.remove()
  })

  test('audits of before they could be about no event are still there, and the next has a new id', async () => {
    const log = await makeLog()
    await log.sql(upTo(2, log))
    await log.sql(`insert into log.audit (at, actor, verb, source, event_id, reason)
      values (${name === 'SQLite' ? '1700000000000' : 'to_timestamp(1700000000)'}, 'ada', 'retry', 'shop', 'e1', 'old')`)
    const store = log.open()
    expect((await store.migrate()).from).toBe(2)
    await store.audit.append([{ actor: 'ada', verb: 'sign_in', source: null, eventId: null, reason: 'new' }])
    const { audits } = await store.audit.list({})
    expect(audits.map(({ id, reason }) => [id, reason])).toEqual([
      [2, 'new'],
      [1, 'old'],
    ])
    expect((await store.audit.list({ eventId: 'e1' })).audits).toEqual([
      {
        id: 1,
        at: 1_700_000_000_000,
        actor: 'ada',
        verb: 'retry',
        source: 'shop',
        eventId: 'e1',
        reason: 'old',
      },
    ])
    await store.close()
    await log.remove()
  })
})

/** The schema as an older hookonce left it. */
function upTo(last: number, log: SharedLog): string {
  const [kind, , schema] = log.args
  const note = ({ number, name, sql }: Migration) =>
    kind === 'sqlite'
      ? `${sql}\ninsert into hookonce_migrations values (${number}, '${name}', 0);`
      : `${sql}\ninsert into hookonce.migrations (number, name) values (${number}, '${name}');`
  const all = kind === 'sqlite' ? sqliteMigrations : postgresMigrations
  const text = all
    .filter(({ number }) => number <= last)
    .map(note)
    .join('\n')
  return kind === 'sqlite' ? text : text.replace(/\bhookonce([.;])/g, `${schema}$1`)
}
