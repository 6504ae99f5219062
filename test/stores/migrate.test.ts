import { describe, expect, inject, test } from 'vitest'
import type { MigrationReport } from '#dist/store.js'
import { startChild } from '../support/child.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: () => postgresLog(inject('postgresUrl')),
}

describe.each(Object.entries(logs))('migrations on %s', (_, makeLog) => {
  test('several processes that migrate at once all succeed, and each migration is applied once', async () => {
    for (let round = 0; round < 3; round++) {
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

  test('a log of a newer hookonce is refused', async () => {
    const log = await makeLog()
    const store = log.open()
    const { to } = await store.migrate()
    await log.sql('create table log.copy as select * from log.migrations')
    await log.sql(`update log.copy set number = ${to + 1}, name = 'from the future' where number = ${to}`)
    await log.sql(`insert into log.migrations select * from log.copy where number = ${to + 1}`)
    await store.close()
    const older = log.open()
    await expect(older.migrate()).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
    await older.close()
    await log.remove()
  })
})
