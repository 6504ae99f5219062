/** Brings the schema up to date, and refuses a schema that this version does not know. */
import { HookonceError } from '../../errors.js'
import { packageVersion } from '../../package-version.js'
import type { Migration, MigrationReport } from '../../store.js'
import { compatibleFrom, insistOnCompatible, type NewerMigration } from '../shared/schema-version.js'
import type { Connection } from './connection.js'
import { migrations } from './schema.js'

export const latest = () => migrations.at(-1)!.number

export function migrate(log: Connection): MigrationReport {
  const from = schemaNumber(log)
  if (from >= latest()) return { from, to: from, applied: [] }
  const applied = migrations.filter((migration) => migration.number > from && apply(log, migration))
  return { from, to: latest(), applied: applied.map(({ number }) => number) }
}

/** False when another process has applied the migration in the meantime. */
function apply(log: Connection, migration: Migration): boolean {
  const isApplied = () => schemaNumber(log) >= migration.number
  if (migration.portions) {
    // The row in hookonce_migrations is written last, so that after a crash the next process continues.
    const changed = () =>
      log.write(() => {
        if (isApplied()) return 0
        const before = totalChanges(log)
        log.db.exec(migration.sql)
        return totalChanges(log) - before
      })
    while (changed() > 0);
  }
  // Checked again under the lock: of two processes that start at once, the second finds the migration applied.
  return log.write(() => {
    if (isApplied()) return false
    if (!migration.portions) log.db.exec(migration.sql)
    log.db.exec(noteAsSql(migration, String(log.now)))
    return true
  })
}

export function noteAsSql(migration: Migration, at: string): string {
  const { number, name } = migration
  const version = packageVersion()
  const text = version === null ? 'null' : `'${version}'`
  return `insert into hookonce_migrations (number, name, applied_at, compatible_from, version) values (${number}, '${name}', ${at}, ${compatibleFrom(migration)}, ${text});`
}

function totalChanges({ db }: Connection): number {
  return Number(db.prepare('select total_changes() as changes').get()?.changes)
}

/** Throws SCHEMA_MISSING, which is clearer than SQLite's "no such table". */
export function insistOnSchema(log: Connection): void {
  const found = schemaNumber(log)
  const known = latest()
  if (found < known) throw new HookonceError('SCHEMA_MISSING', { found, known })
}

/** Throws SCHEMA_NEWER when the schema needs a later hookonce. */
function schemaNumber(log: Connection): number {
  const found = schemaFound(log)
  if (found > latest()) insistOnCompatible(newerMigrations(log), latest())
  return found
}

export function newerMigrations({ db }: Connection): NewerMigration[] {
  return db
    .prepare(
      'select number, compatible_from, version from hookonce_migrations where number > ? order by number',
    )
    .all(latest())
    .map((row) => ({
      number: Number(row.number),
      compatibleFrom: Number(row.compatible_from),
      version: row.version === null ? null : String(row.version),
    }))
}

/** 0 = no migration is applied. The number may be newer than this version knows. */
export function schemaFound({ db }: Connection): number {
  const table = db
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'hookonce_migrations'")
    .get()
  if (table === undefined) return 0
  const row = db.prepare('select coalesce(max(number), 0) as number from hookonce_migrations').get()
  return Number(row?.number)
}
