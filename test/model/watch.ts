/**
 * Triggers that write down every change of the log, in the transaction that makes it. They are an outside observer: the
 * program under test does not know of them.
 */
import type { Change, Snapshot } from './history.js'

/** Columns that the rules speak of. `seq` says which event it is. */
const columns = {
  events: ['seq', 'source', 'event_id', 'parked'],
  work: ['seq', 'lane', 'next_at', 'claimed_at', 'token', 'attempt', 'base_attempt', 'run'],
  attempts: ['seq', 'attempt', 'outcome', 'finished_at'],
  payloads: ['seq'],
  consumers: ['source', 'position'],
} as const
type Table = keyof typeof columns
const times = new Set(['next_at', 'claimed_at', 'finished_at'])

export interface Watched {
  /** SQL that makes the triggers. */
  readonly install: string
  /** A query for all changes, oldest first. */
  readonly read: string
}

export interface UserTable {
  readonly name: string
  readonly columns: readonly string[]
}

export function watchPostgres(schema: string, effects: UserTable): Watched {
  const own = `"${schema}_watch"`
  const log = `"${schema}"`
  const row = (side: string, names: readonly string[]) =>
    `jsonb_build_object(${names
      .map(
        (name) =>
          `'${name}', ${times.has(name) ? `extract(epoch from ${side}.${name}) * 1000` : `${side}.${name}`}`,
      )
      .join(', ')})`
  const trigger = (table: string, name: string, names: readonly string[]) => `
create function ${own}.note_${table}() returns trigger language plpgsql security definer as $$
begin
  insert into ${own}.changes (changed, was, "is", at, tx, sees) values ('${table}',
    case when tg_op <> 'INSERT' then ${row('old', names)} end, case when tg_op <> 'DELETE' then ${row('new', names)} end,
    extract(epoch from ${log}.clock()) * 1000, pg_current_xact_id()::text::bigint, pg_current_snapshot()::text);
  return null;
end $$;
create trigger watch after insert or update or delete on ${name} for each row execute function ${own}.note_${table}();`
  return {
    install: `create schema ${own}; grant usage on schema ${own} to public;
create table ${own}.changes (n bigserial primary key, changed text not null, was jsonb, "is" jsonb, at float8 not null,
  tx bigint not null, sees text not null);
${Object.entries(columns)
  .map(([table, names]) => trigger(table, `${log}.${table}`, names))
  .join('')}${trigger('effects', effects.name, effects.columns)}`,
    read: `select changed, was, "is", at, tx::float8 as tx, sees from ${own}.changes order by n`,
  }
}

export function watchSqlite(effects: UserTable): Watched {
  // In SQLite the run is on the event, and the time of a log that is behind its clock is never needed.
  const inSqlite = (table: Table) => columns[table].filter((name) => !(table === 'work' && name === 'run'))
  const row = (side: string, names: readonly string[]) =>
    `json_object(${names.map((name) => `'${name}', ${side}.${name}`).join(', ')})`
  const trigger = (table: string, name: string, names: readonly string[]) =>
    (['insert', 'update', 'delete'] as const)
      .map(
        (verb) => `
create trigger watch_${table}_${verb} after ${verb} on ${name} begin
  insert into watch_changes (changed, was, "is", at) values ('${table}', ${verb === 'insert' ? 'null' : row('old', names)},
    ${verb === 'delete' ? 'null' : row('new', names)}, unixepoch('subsec') * 1000);
end;`,
      )
      .join('')
  return {
    install: `create table watch_changes (n integer primary key, changed text not null, was text, "is" text, at real not null);
${(Object.keys(columns) as Table[]).map((table) => trigger(table, `hookonce_${table}`, inSqlite(table))).join('')}
${trigger('effects', effects.name, effects.columns)}`,
    read: 'select changed, was, "is", at from watch_changes order by n',
  }
}

/** A row of `read`, from either database. */
export function changeOf(row: Readonly<Record<string, unknown>>): Change {
  const { changed, was, is, at, tx, sees } = row
  const parsed = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) as Change['was']
  return {
    table: changed as Change['table'],
    was: parsed(was ?? null),
    is: parsed(is ?? null),
    at: Number(at),
    ...(tx !== undefined && { tx: Number(tx), sees: snapshotOf(String(sees)) }),
  }
}

/** `min:max:open,open`. */
function snapshotOf(text: string): Snapshot {
  const [min, max, open = ''] = text.split(':')
  return { min: Number(min), max: Number(max), open: open === '' ? [] : open.split(',').map(Number) }
}
