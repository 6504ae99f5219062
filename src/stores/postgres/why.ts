/**
 * Finds the attempt that last wrote a row: `xmin` of the row is the transaction of the attempt (docs/decisions/0012-why.md).
 * The row of the attempt was written by that transaction too, so its own `xmin` must be the same: after a dump and restore
 * the stored ids are those of another server, and prove nothing.
 */
import { HookonceError, invalid } from '../../errors.js'
import type { RowAttempt, RowName, RowWriter } from '../../store.js'
import type { Database } from './connection/database.js'
import { adhoc, statement } from './connection/statement.js'

/** Attempts that began to write before the row was written. */
const NEAR = 5
/** Attempts that shared a transaction. */
const MOST = 50

/**
 * $1 the name as it was given, folded and unquoted as in any statement. The log's connections have no search_path: a name
 * without a schema is looked for in all, and `public` goes first.
 */
const findTable = statement('why_table')`
select c.oid::int8 as oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind,
  has_table_privilege(c.oid, 'select') as readable, current_user as role,
  array(select format('%I', a.attname) from pg_index i
    cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, n)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
    where i.indrelid = c.oid and i.indisprimary order by k.n) as "primaryKey"
from parse_ident($1) as p (parts)
join pg_class c on c.relname = parts[cardinality(parts)] and c.relkind in ('r', 'p', 'v', 'm', 'f')
join pg_namespace n on n.oid = c.relnamespace
where cardinality(parts) <= 2 and (cardinality(parts) = 1 or n.nspname = parts[1])
  and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and n.nspname !~ '^pg_(temp|toast_temp)_'
order by n.nspname = 'public' desc, name limit 2`

interface Table {
  oid: number
  name: string
  kind: string
  readable: boolean
  role: string
  primaryKey: string[]
}

/** $1 table   $2 column as it was given   The name and type come back quoted by the server. */
const findColumn = statement('why_column')`
select format('%I', a.attname) as name, format_type(a.atttypid, a.atttypmod) as type
from pg_attribute a
where a.attrelid = $1::int8::oid and a.attnum > 0 and not a.attisdropped and $2::text in (a.attname::text, format('%I', a.attname))
order by a.attname::text = $2::text desc limit 1`

const attempt = `
  e.source, e.event_id as id, e.event_type as type, e.related_reference as reference, a.attempt, a.run, a.worker,
  a.started_at as "startedAt", a.finished_at as "finishedAt", a.outcome, a.detail`

/**
 * $1 the transaction id. In a row it has 32 bits, and begins again after 4 billion transactions: the last time it was given is
 * meant. Null when it was not given yet.
 */
const wholeId = `(
    select (id - case when id < next then 0 else 4294967296 end)::text::xid8
    from (select pg_snapshot_xmax(pg_current_snapshot())::text::numeric as next) s
    cross join lateral (select next - mod(next, 4294967296) + $1::numeric as id) i
    where id < next or id >= 4294967296
  )`

const byTransaction = statement('why_attempts')`
select ${attempt}
from hookonce.attempts a join hookonce.events e on e.seq = a.seq
where a.xid = ${wholeId} and a.xmin = $1::text::xid
order by a.seq limit ${MOST}`

/** A savepoint gets its id after its transaction. */
const before = statement('why_before')`
select ${attempt}
from (select *, xmin from hookonce.attempts where xid < ${wholeId} order by xid desc limit ${NEAR}) a
join hookonce.events e on e.seq = a.seq
where a.xmin = a.xid::xid
order by a.xid desc`

export async function writerOf(db: Database, row: RowName): Promise<RowWriter | null> {
  const table = await tableOf(db, row.table)
  const key = await keyOf(db, table, row.key)
  const transactionId = await transactionOf(db, table, key)
  if (transactionId === null) return null
  const found = {
    ...{ table: table.name, transactionId },
    key: Object.fromEntries(key.map(({ column, value }) => [column, value])),
  }
  const attempts = await db.read<RowAttempt>(byTransaction, [transactionId])
  if (attempts.length > 0) return { ...found, found: 'attempt', attempts }
  const near = await db.read<RowAttempt>(before, [transactionId])
  return { ...found, found: near.length > 0 ? 'near' : 'none', attempts: near }
}

async function tableOf(db: Database, name: string): Promise<Table> {
  const [table, another] = await db.read<Table>(findTable, [name]).catch((error: unknown) => {
    throw isBadInput(error)
      ? invalid('The table', `"${name}" is not a name such as orders or shop.orders`)
      : error
  })
  if (!table)
    throw invalid(
      'The table',
      `"${name}" does not exist in this database; name its schema, such as shop.${name}`,
    )
  if (another && !table.name.startsWith('public.'))
    throw invalid('The table', `"${name}" is in several schemas; say which: ${table.name} or ${another.name}`)
  if (!['r', 'p'].includes(table.kind))
    throw invalid(
      'The table',
      `${table.name} is a view or another relation; name the table that its rows come from`,
    )
  if (!table.readable)
    throw invalid(
      'The table',
      `${table.name} cannot be read by ${table.role}; grant select on ${table.name} to ${table.role}`,
    )
  return table
}

interface KeyPart {
  readonly column: string
  readonly type: string
  readonly value: string
}

async function keyOf(db: Database, table: Table, text: string): Promise<readonly KeyPart[]> {
  const { primaryKey, name } = table
  const pairs = pairsOf(text)
  const given = pairs ?? primaryKey.slice(0, 1).map((column) => [column, text] as const)
  if (!pairs && primaryKey.length !== 1)
    throw invalid(
      'The key',
      primaryKey.length === 0
        ? `of ${name} must name its columns, such as id=42, because the table has no primary key`
        : `of ${name} has several columns; give ${primaryKey.map((column) => `${column}=...`).join(' ')}`,
    )
  return Promise.all(
    given.map(async ([column, value]) => {
      const [found] = await db.read<{ name: string; type: string }>(findColumn, [table.oid, column])
      if (!found) throw invalid('The key', `names the column "${column}", which ${name} does not have`)
      return { column: found.name, type: found.type, value }
    }),
  )
}

/** Null: one value. A value with a space is quoted: `name='John Smith'`. */
function pairsOf(text: string): readonly (readonly [string, string])[] | null {
  const pair = /\s*("(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)=(?:'((?:[^']|'')*)'|(\S*))/uy
  const pairs: [string, string][] = []
  for (let match = pair.exec(text); match; match = pair.exec(text)) {
    const [whole, column = '', quoted, plain = ''] = match
    pairs.push([column, quoted === undefined ? plain : quoted.replaceAll("''", "'")])
    if (pair.lastIndex === text.length || whole === '') return pairs
    if (/^\s*$/.test(text.slice(pair.lastIndex))) return pairs
  }
  return null
}

async function transactionOf(db: Database, { name }: Table, key: readonly KeyPart[]): Promise<string | null> {
  // Every name in this text was quoted by the server, and values are parameters.
  const where = key.map(({ column, type }, i) => `t.${column} = $${i + 1}::text::${type}`).join(' and ')
  const sql = `select t.xmin::text as "transactionId" from ${name} t where ${where} limit 2`
  const rows = await db
    .read<{ transactionId: string }>(
      adhoc(sql),
      key.map(({ value }) => value),
    )
    .catch((error: unknown) => {
      if (!isBadInput(error)) throw error
      const types = key.map(({ column, type }) => `${column} is ${type}`).join(', ')
      throw invalid('The key', `does not fit its columns: ${types}`)
    })
  if (rows.length > 1)
    throw invalid('The key', `fits several rows of ${name}; give all columns of its primary key`)
  return rows[0]?.transactionId ?? null
}

/** Data exceptions, and errors of a name. */
function isBadInput(error: unknown): boolean {
  return error instanceof HookonceError && /\b(22...|42601|42602|42883|0A000)\b/.test(error.message)
}
