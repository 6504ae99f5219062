/**
 * Privileges that a role lacks, in words that name the grant. docs/postgresql.md has the statements for an owner and for
 * a role that only reads and writes rows.
 */
import { HookonceError } from '../../errors.js'
import { adhoc, type Run } from './statement.js'

/** What PostgreSQL says, and the grant. Its message names objects only, never values. */
const grants: readonly (readonly [RegExp, (name: string) => string])[] = [
  [
    /^permission denied for (?:table|view|relation) (\S+)$/,
    (name) => `select, insert, update, delete on table ${name}`,
  ],
  [/^permission denied for sequence (\S+)$/, (name) => `usage, select on sequence ${name}`],
  [
    /^permission denied for schema (\S+)$/,
    (name) => `usage on schema ${name} (and create, to migrate and maintain)`,
  ],
  [/^permission denied for function (\S+)$/, (name) => `execute on function ${name}`],
  [/^permission denied for database (\S+)$/, (name) => `create on database ${name}, to migrate`],
  [/^must be owner of \S+ (\S+)$/, (name) => `ownership of ${name}, to migrate and maintain`],
]

/** For an error with the code 42501. */
export function missingPrivilege(message: string): HookonceError {
  const policy = /row-level security policy for table "([^"]+)"/.exec(message)
  if (policy) return hiddenRows(policy[1]!)
  for (const [pattern, grant] of grants) {
    const name = pattern.exec(message)?.[1]
    if (name !== undefined) return new HookonceError('STORE_PRIVILEGE', { problem: grant(name) })
  }
  // The server may speak another language.
  return new HookonceError('STORE_PRIVILEGE', {
    problem: 'a privilege that PostgreSQL does not name (42501)',
  })
}

export function hiddenRows(table: string): HookonceError {
  return new HookonceError('STORE_PRIVILEGE', {
    problem: `bypassrls, because row-level security hides rows of table ${table} (or disable it for this table)`,
  })
}

/** A hidden event would be lost without an error: it is neither found as a duplicate nor claimed. */
export async function insistOnVisibleRows(run: Run, schema: string): Promise<void> {
  const [hidden] = await run<{ name: string }>(
    adhoc(`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = $1 and c.relrowsecurity and row_security_active(c.oid) order by 1 limit 1`),
    [schema],
  )
  if (hidden) throw hiddenRows(hidden.name)
}
