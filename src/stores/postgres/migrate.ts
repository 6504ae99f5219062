/**
 * Applies migrations while older processes work on the log: each in one transaction, except for indexes on filled tables,
 * which are built concurrently. A statement that waits for a table lock blocks all later statements on that table, so it
 * waits shortly and tries again. Processes that migrate at once take turns by an advisory lock of the transaction.
 */

import type { Client } from 'pg'
import { HookonceError } from '../../errors.js'
import { packageVersion } from '../../package-version.js'
import type { Migration, MigrationReport } from '../../store.js'
import { compatibleFrom, insistOnCompatible, type NewerMigration } from '../shared/schema-version.js'
import { cancelStatement, destroy } from './connection/client.js'
import type { Database } from './connection/database.js'
import { asHookonceError, describe, isRaceFailure } from './connection/failure.js'
import { insistOnVisibleRows } from './connection/privileges.js'
import { beginSql, formats, inTransaction } from './connection/settings.js'
import { adhoc, type Run } from './connection/statement.js'
import { migrations } from './schema.js'

export const latest = () => migrations.at(-1)!.number

/** Other processes wait this long because of a migration. */
const LOCK_MS = 500
/** Between two tries the statements that had to wait can run. */
const PAUSE_MS = 1_000
/** A backup may hold its locks for a long time. */
const GIVE_UP_MS = 10 * 60_000
const IDLE_MS = 60_000

const begin = beginSql(IDLE_MS, {
  ...formats,
  lock_timeout: LOCK_MS,
  statement_timeout: 0,
  client_min_messages: 'warning',
})

class OtherMigrator extends Error {}

export async function migrate(db: Database): Promise<MigrationReport> {
  // Most starts have nothing to apply, and then need no advisory lock and no privilege to create tables.
  const from = await db.atomic(async (run) => {
    await insistOnVisibleRows(run, db.schema)
    return version(run, db.schema)
  })
  if (from >= latest()) return { from, to: from, applied: [] }
  const client = db.client()
  const giveUp = () => void cancelStatement(client).then(() => destroy(client))
  db.closing.addEventListener('abort', giveUp, { once: true })
  try {
    await client.connect()
    const applied: number[] = []
    for (const migration of migrations) {
      if (migration.number <= from) continue
      // The tables of a new log are empty, and an index built concurrently would wait for every open transaction.
      const sql = from === 0 ? inOneTransaction(migration.sql) : migration.sql
      if (await apply(db, client, { ...migration, sql })) applied.push(migration.number)
    }
    return { from, to: latest(), applied }
  } catch (error) {
    if (db.closing.aborted) throw new HookonceError('STORE_CLOSED')
    await cancelStatement(client)
    throw asHookonceError(error)
  } finally {
    db.closing.removeEventListener('abort', giveUp)
    await client.end().catch(() => {})
  }
}

/** Returns false when another process has applied it. */
async function apply(db: Database, client: Client, migration: Migration): Promise<boolean> {
  const commands = commandsOf(migration.sql)
  if (migration.portions) {
    // The row in `migrations` is written last: when this process dies, the next one continues.
    for (const command of commands) {
      const portion = () => step(db, client, migration, [command], false)
      while (((await retried(db, migration, portion)) ?? 0) > 0);
    }
  }
  const together: string[] = []
  for (const command of migration.portions ? [] : commands) {
    const [, index] = concurrentIndex.exec(command) ?? []
    if (index === undefined) {
      together.push(command)
      continue
    }
    const before = together.splice(0)
    if ((await retried(db, migration, () => step(db, client, migration, before, false))) === null)
      return false
    await retried(db, migration, () => buildIndex(db, client, index, command))
  }
  return (await retried(db, migration, () => step(db, client, migration, together, true))) !== null
}

/** One transaction. Returns how many rows its last command changed; null when the migration is applied already. */
async function step(
  db: Database,
  client: Client,
  migration: Migration,
  commands: readonly string[],
  last: boolean,
): Promise<number | null> {
  // No time limit: a command on a large table takes long. TCP keepalive detects a server that is gone.
  const run: Run = async (statement, values) => (await client.query(db.prepared(statement, values))).rows
  const command = (sql: string) => client.query(sql)
  return inTransaction(begin, command, async () => {
    const [turn] = await run<{ got: boolean }>(
      adhoc('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as got'),
      [`hookonce migrate ${db.schema}`],
    )
    if (!turn!.got) throw new OtherMigrator()
    if ((await version(run, db.schema)) >= migration.number) return null
    let changed = 0
    for (const sql of commands) {
      // Creating a schema needs a privilege on the database, even when it exists.
      if (createsSchema.test(sql) && (await hasSchema(run, db.schema))) continue
      changed = (await client.query(db.prepared(adhoc(sql), []))).rowCount ?? 0
    }
    if (last) await run(adhoc(noteAsSql(migration)), [])
    return changed
  })
}

/**
 * Others write to the table meanwhile. An unfinished index is dropped and built again; one that another process is
 * building is waited for.
 */
async function buildIndex(db: Database, client: Client, name: string, command: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ valid: boolean; building: boolean }>(
      `select i.indisvalid as valid,
         exists (select 1 from pg_stat_progress_create_index p where p.index_relid = c.oid) as building
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_index i on i.indexrelid = c.oid
       where n.nspname = $1 and c.relname = $2`,
      [db.schema, name],
    )
    const [found] = rows
    if (found?.valid) return
    if (found?.building) throw new OtherMigrator()
    if (found) await client.query(db.inSchema(`drop index concurrently if exists hookonce.${name}`))
    await client.query(db.inSchema(command))
  }
}

const createsSchema = /^\s*create schema if not exists /

async function hasSchema(run: Run, schema: string): Promise<boolean> {
  return (await run(adhoc('select 1 from pg_namespace where nspname = $1'), [schema])).length > 0
}

async function retried<T>(db: Database, { number }: Migration, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + GIVE_UP_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const busy = error instanceof OtherMigrator || isRaceFailure(error)
      if (!busy || db.closing.aborted) throw error
      if (performance.now() > giveUpAt) {
        const why = error instanceof OtherMigrator ? 'another process migrates' : describe(error)
        const problem = `migration ${number} found no moment without other locks on its tables (${why}); end long transactions`
        throw new HookonceError('STORE_BUSY', { problem })
      }
      const pauseMs = error instanceof OtherMigrator ? PAUSE_MS / 10 : PAUSE_MS
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
    }
  }
}

export function noteAsSql(migration: Migration): string {
  const { number, name } = migration
  const version = packageVersion()
  const text = version === null ? 'null' : `'${version}'`
  return `insert into hookonce.migrations (number, name, compatible_from, version) values (${number}, '${name}', ${compatibleFrom(migration)}, ${text});`
}

/** Throws SCHEMA_NEWER when the schema needs a later hookonce. */
async function version(run: Run, schema: string): Promise<number> {
  const found = await schemaFound(run, schema)
  if (found > latest()) insistOnCompatible(await newerMigrations(run), latest())
  return found
}

/** Applied to the log, and unknown to this build. */
export function newerMigrations(run: Run): Promise<NewerMigration[]> {
  return run(
    adhoc(`select number, compatible_from as "compatibleFrom", version from hookonce.migrations
           where number > $1 order by number`),
    [latest()],
  )
}

/** Of the last applied migration, which this build may not know, or 0. */
export async function schemaFound(run: Run, schema: string): Promise<number> {
  // The catalogue: to_regclass() may answer from a cache that is older than the advisory lock.
  const [table] = await run(
    adhoc(`select 1 from pg_namespace n join pg_class c on c.relnamespace = n.oid
           where n.nspname = $1 and c.relname = 'migrations'`),
    [schema],
  )
  if (!table) return 0
  const [row] = await run<{ found: number }>(
    adhoc('select coalesce(max(number), 0) as found from hookonce.migrations'),
    [],
  )
  return row!.found
}

const concurrentIndex = /^create index concurrently if not exists (\w+) on /m

export function inOneTransaction(sql: string): string {
  return sql.replaceAll('create index concurrently', 'create index')
}

/** A prepared statement has one command. Commands end with a semicolon at the end of a line, outside $$ bodies. */
function commandsOf(sql: string): string[] {
  const commands: string[] = []
  let current = ''
  for (const line of sql.split('\n')) {
    current += `${line}\n`
    const insideBody = (current.match(/\$\$/g)?.length ?? 0) % 2 === 1
    if (!insideBody && line.endsWith(';')) {
      commands.push(current)
      current = ''
    }
  }
  return commands
}
