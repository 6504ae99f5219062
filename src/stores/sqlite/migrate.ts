/** Brings the schema up to date, and refuses to work on one that this version does not know. */
import { HookonceError } from '../../errors.js'
import type { MigrationReport } from '../../store.js'
import type { Connection } from './connection.js'
import { migrations } from './migrations.js'

export const known = migrations.at(-1)!.number

export function migrate(connection: Connection, now: number): MigrationReport {
  const from = schemaNumber(connection)
  if (from === known) return { from, to: known, applied: [] }
  // The lock comes before the look that counts: of two processes that start at once, the second finds the work done.
  return connection.write(() => {
    const from = schemaNumber(connection)
    const missing = migrations.filter(({ number }) => number > from)
    for (const { number, name, sql } of missing) {
      connection.db.exec(sql)
      connection.db
        .prepare('insert into hookonce_migrations (number, name, applied_at) values (?, ?, ?)')
        .run(number, name, now)
    }
    return { from, to: known, applied: missing.map(({ number }) => number) }
  })
}

/** SCHEMA_MISSING rather than a raw "no such table". */
export function insistOnSchema(connection: Connection): void {
  const found = schemaNumber(connection)
  if (found < known) throw new HookonceError('SCHEMA_MISSING', { found, known })
}

/** SCHEMA_NEWER when a later hookonce has been here. */
function schemaNumber(connection: Connection): number {
  const found = schemaFound(connection)
  if (found > known) throw new HookonceError('SCHEMA_NEWER', { found, known })
  return found
}

/** 0 = none yet. May be newer than what is known here. */
export function schemaFound({ db }: Connection): number {
  const table = db
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'hookonce_migrations'")
    .get()
  if (table === undefined) return 0
  const row = db.prepare('select coalesce(max(number), 0) as number from hookonce_migrations').get()
  return Number(row?.number)
}
