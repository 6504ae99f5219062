/** Brings the schema up to date. An advisory lock makes racing processes take turns; the loser finds it done. */
import { HookonceError } from '../../errors.js'
import type { MigrationReport } from '../../store.js'
import type { Database, Run } from './database.js'
import { migrations } from './migrations.js'

export const latest = migrations.at(-1)!.number

export async function migrate(db: Database): Promise<MigrationReport> {
  // Most starts find nothing to do; they must not queue behind each other, nor need the right to create anything.
  const found = await db.atomic(version)
  if (found === latest) return { from: latest, to: latest, applied: [] }
  return db.atomic(async (run) => {
    await run(adhoc('select pg_advisory_xact_lock(hashtextextended($1, 0))'), [
      `hookonce migrate ${db.schema}`,
    ])
    const from = await version(run)
    const missing = migrations.filter((migration) => migration.number > from)
    for (const { number, name, sql } of missing) {
      for (const statement of statements(sql)) await run(adhoc(statement), [])
      await run(adhoc('insert into hookonce.migrations (number, name) values ($1, $2)'), [number, name])
    }
    return { from, to: latest, applied: missing.map((migration) => migration.number) }
  })

  async function version(run: Run): Promise<number> {
    const found = await schemaFound(run, db.schema)
    if (found > latest) throw new HookonceError('SCHEMA_NEWER', { found, known: latest })
    return found
  }
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

const adhoc = (sql: string) => ({ name: '', sql })

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
