/** Names the grant that a role lacks (docs/postgresql.md). */
import { HookonceError } from '../../../errors.js'
import { adhoc, type Run } from './statement.js'

const rows = 'select, insert, update, delete on table {}'
const grants: Readonly<Record<string, string>> = {
  table: rows,
  view: rows,
  relation: rows,
  sequence: 'usage, select on sequence {}',
  schema: 'usage on schema {} (and create, to migrate and maintain)',
  function: 'execute on function {}',
  database: 'create on database {}, to migrate',
}

/** The message of 42501 names objects only, never values. */
export function missingPrivilege(message: string): HookonceError {
  const [, policy] = /row-level security policy for table "([^"]+)"/.exec(message) ?? []
  if (policy !== undefined) return hiddenRows(policy)
  const [, kind = '', name = ''] = /^permission denied for (\w+) (\S+)$/.exec(message) ?? []
  const [, owned] = /^must be owner of \S+ (\S+)$/.exec(message) ?? []
  const problem = owned
    ? `ownership of ${owned}, to migrate and maintain`
    : kind in grants
      ? grants[kind]!.replace('{}', () => name)
      : 'a privilege that PostgreSQL does not name (42501)' // the server may speak another language
  return new HookonceError('STORE_PRIVILEGE', { problem })
}

export function hiddenRows(table: string): HookonceError {
  return new HookonceError('STORE_PRIVILEGE', {
    problem: `bypassrls, because row-level security hides rows of table ${table} (or disable it for this table)`,
  })
}

/** A hidden event would be lost without an error: it would be neither found as a duplicate nor claimed. */
export async function insistOnVisibleRows(run: Run, schema: string): Promise<void> {
  const [hidden] = await run<{ name: string }>(
    adhoc(`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = $1 and c.relrowsecurity and row_security_active(c.oid) order by 1 limit 1`),
    [schema],
  )
  if (hidden) throw hiddenRows(hidden.name)
}
