/**
 * Brings the schema up to date, one transaction for each migration, while older processes work on the log. A statement
 * that waits for a lock makes everybody behind it wait too, so it waits for a moment only, and tries again later. An
 * advisory lock, held by the transaction, makes racing processes take turns; the loser finds it done.
 */

import type { Client } from 'pg'
import { HookonceError } from '../../errors.js'
import type { Migration, MigrationReport } from '../../store.js'
import {
  compatibleFrom,
  insistOnCompatible,
  type NewerMigration,
  NOTED_SINCE,
  packageVersion,
} from '../shared/schema-version.js'
import { answerOf, cancelStatement, destroy } from './connection.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isRaceFailure } from './failure.js'
import { migrations } from './migrations.js'
import { adhoc, type Run } from './statement.js'

export const latest = migrations.at(-1)!.number
const notedSince = migrations.find(({ name }) => name === NOTED_SINCE)!.number

/** The longest that a process of the version before waits because of a migration. */
const LOCK_MS = 500
/** Between two tries: those who queued up behind the first one go ahead. */
const PAUSE_MS = 1_000
/** A backup may hold its locks for long. After this the process that starts gives up, and may be started again. */
const PATIENCE_MS = 10 * 60_000
/** How long a portion may stand between two statements. */
const IDLE_MS = 60_000

const begin = `begin; set local lock_timeout = ${LOCK_MS}; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = ${IDLE_MS}; set local client_min_messages = warning`

/** Somebody else migrates at this moment. */
class NotOurTurn extends Error {}

export async function migrate(db: Database): Promise<MigrationReport> {
  // Most starts find nothing to do; they must not queue behind each other, nor need the right to create anything.
  const from = await db.atomic((run) => version(run, db.schema))
  if (from >= latest) return { from, to: from, applied: [] }
  const client = db.client()
  const giveUp = () => void cancelStatement(client).then(() => destroy(client))
  db.closing.addEventListener('abort', giveUp, { once: true })
  try {
    await client.connect()
    const applied: number[] = []
    for (const migration of migrations) {
      if (migration.number > from && (await apply(db, client, migration))) applied.push(migration.number)
    }
    return { from, to: latest, applied }
  } catch (error) {
    if (db.closing.aborted) throw new HookonceError('STORE_CLOSED')
    await cancelStatement(client)
    throw asHookonceError(error)
  } finally {
    db.closing.removeEventListener('abort', giveUp)
    await client.end().catch(() => {})
  }
}

/** False: somebody else did it meanwhile. */
async function apply(db: Database, client: Client, migration: Migration): Promise<boolean> {
  const parts = statements(migration.sql)
  if (migration.portions) {
    // The row that says it is done comes last: a process that dies in between leaves the rest to the next.
    for (const part of parts) {
      const portion = () => step(db, client, migration, [part], false)
      while (((await patiently(db, migration, portion)) ?? 0) > 0);
    }
  }
  const whole = () => step(db, client, migration, migration.portions ? [] : parts, true)
  return (await patiently(db, migration, whole)) !== null
}

/** One transaction. How many rows its last statement changed; null when the migration is there already. */
async function step(
  db: Database,
  client: Client,
  migration: Migration,
  parts: readonly string[],
  last: boolean,
): Promise<number | null> {
  // No deadline: an answer may take as long as the table is large. TCP keepalive finds out when the server is gone.
  const run: Run = async (statement, values) => (await client.query(db.prepared(statement, values))).rows
  await client.query(begin)
  try {
    const [turn] = await run<{ got: boolean }>(
      adhoc('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as got'),
      [`hookonce migrate ${db.schema}`],
    )
    if (!turn!.got) throw new NotOurTurn()
    let changed: number | null = null
    if ((await version(run, db.schema)) < migration.number) {
      changed = 0
      for (const part of parts) changed = (await client.query(db.prepared(adhoc(part), []))).rowCount ?? 0
      if (last) await run(...note(migration))
    }
    await client.query('commit')
    return changed
  } catch (error) {
    await answerOf(client.query('rollback'), db.timeoutMs)
    throw error
  }
}

/** Again and again while others hold the locks it needs. */
async function patiently<T>(db: Database, { number }: Migration, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const busy = error instanceof NotOurTurn || isRaceFailure(error)
      if (!busy || db.closing.aborted) throw error
      if (performance.now() > until) {
        const why = error instanceof NotOurTurn ? 'another process migrates' : describe(error)
        const problem = `migration ${number} found no moment without other locks on its tables (${why}); end long transactions`
        throw new HookonceError('STORE_BUSY', { problem })
      }
      const pauseMs = error instanceof NotOurTurn ? PAUSE_MS / 10 : PAUSE_MS
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
    }
  }
}

/** The row that says a migration was applied. */
function note(migration: Migration): Parameters<Run> {
  const { number, name } = migration
  if (number < notedSince)
    return [adhoc('insert into hookonce.migrations (number, name) values ($1, $2)'), [number, name]]
  return [
    adhoc('insert into hookonce.migrations (number, name, compatible_from, version) values ($1, $2, $3, $4)'),
    [number, name, compatibleFrom(migration), packageVersion()],
  ]
}

/** The same as SQL, for people who run their own migrations. */
export function noteAsSql(migration: Migration): string {
  const { number, name } = migration
  if (number < notedSince)
    return `insert into hookonce.migrations (number, name) values (${number}, '${name}');`
  const version = packageVersion()
  const text = version === null ? 'null' : `'${version}'`
  return `insert into hookonce.migrations (number, name, compatible_from, version) values (${number}, '${name}', ${compatibleFrom(migration)}, ${text});`
}

/** 0 = none yet. SCHEMA_NEWER when what is there needs a later hookonce. */
async function version(run: Run, schema: string): Promise<number> {
  const found = await schemaFound(run, schema)
  if (found > latest) insistOnCompatible(await newerMigrations(run), latest)
  return found
}

/** Those that are in the log and not known here. */
export function newerMigrations(run: Run): Promise<NewerMigration[]> {
  return run(
    adhoc(`select number, compatible_from as "compatibleFrom", version from hookonce.migrations
           where number > $1 order by number`),
    [latest],
  )
}

/** 0 = none yet. May be newer than what is known here. */
export async function schemaFound(run: Run, schema: string): Promise<number> {
  // Asked of the catalogue itself: to_regclass() may answer from a cache that is older than the lock we waited for.
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

/** A prepared statement holds one command. Commands end with a semicolon at the end of a line outside a $$ body. */
function statements(sql: string): string[] {
  const parts: string[] = []
  let current = ''
  for (const line of sql.split('\n')) {
    current += `${line}\n`
    const insideBody = (current.match(/\$\$/g)?.length ?? 0) % 2 === 1
    if (!insideBody && line.endsWith(';')) {
      parts.push(current)
      current = ''
    }
  }
  return parts
}
