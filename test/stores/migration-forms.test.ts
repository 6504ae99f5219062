/**
 * The texts of the PostgreSQL migrations: none of them blocks the intake of older processes for longer than a moment,
 * whatever the size of the log. A form that scans or rewrites a filled table under a lock is refused.
 */
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { migrations } from '#dist/stores/postgres/migrations.js'
import { postgresSchemaLog } from '../support/logs.js'

/** The schema of the first release. No log with events is older. */
const FIRST_RELEASE = 4

/** Forms that block, by the command that has them. */
const blocking: Record<string, RegExp> = {
  'an index that blocks writers while it is built (use `create index concurrently if not exists`)':
    /^create (?:unique )?index (?!concurrently if not exists )[\w ]+ on hookonce\.(\w+)/,
  'a column type is changed: every row is rewritten':
    /^alter table hookonce\.(\w+)[^;]*\balter column \w+ (?:set data )?type\b/,
  'a column with a computed default: every row is rewritten':
    /^alter table hookonce\.(\w+)[^;]*\badd column [^,;]*\bdefault [^,;]*\(/,
  'a stored generated column: every row is rewritten':
    /^alter table hookonce\.(\w+)[^;]*\bgenerated always as [^;]*\bstored\b/,
  'a constraint that scans the table under a lock (add it `not valid`, validate it later)':
    /^alter table hookonce\.(\w+)[^;]*\b(?:add (?:constraint|check|foreign key|primary key|unique)|set not null)\b(?![^;]*not valid)/,
  'a table is rewritten':
    /^(?:cluster|vacuum full|alter table) (?:hookonce\.)?(\w+)[^;]*\b(?:set (?:logged|unlogged|tablespace|access method)|using \w+;)/,
  'all rows are changed in one statement (use `portions`)':
    /^(?:update|delete from) (?:only )?hookonce\.(\w+)/,
  'rows are copied in one statement (use `portions`)':
    /^insert into hookonce\.\w+[^;]*\bfrom hookonce\.(\w+)/,
  'a table is locked by hand': /^lock table hookonce\.(\w+)/,
}

/** Commands that may stay, with the reason. */
const allowed: readonly { migration: string; table: string; why: string }[] = [
  { migration: 'growth', table: 'hours', why: 'a row per source, hour and slot, not per event' },
  {
    migration: 'history',
    table: 'work',
    why: 'reads a row per source and hour, and asks `work` whether one exists',
  },
]

function commandsOf(sql: string): string[] {
  const bare = sql.replace(/\$\$[\s\S]*?\$\$/g, "''").replace(/--.*$/gm, '')
  return bare.split(';').map((command) => `${command.trim().replace(/\s+/g, ' ').toLowerCase()};`)
}

function problemsOf(
  list: readonly { number: number; name: string; sql: string; portions?: true }[],
): string[] {
  const filled = new Set<string>()
  return list.flatMap(({ number, name, sql, portions }) => {
    const commands = commandsOf(sql)
    const problems = commands.flatMap((command) =>
      Object.entries(blocking).flatMap(([what, form]) => {
        const table = form.exec(command)?.[1]
        if (table === undefined || !filled.has(table) || number <= FIRST_RELEASE) return []
        if (portions && /^(?:update|delete|insert)/.test(command)) return []
        if (allowed.some((one) => one.migration === name && one.table === table)) return []
        return [`migration ${number}: ${what}: ${command.slice(0, 80)}`]
      }),
    )
    // Commands before a concurrent index run again when the process ends while the index is built.
    const last = commands.findLastIndex((command) => command.startsWith('create index concurrently'))
    for (const command of commands.slice(0, Math.max(0, last))) {
      if (command !== ';' && !/\bif not exists\b|\bor replace\b/.test(command))
        problems.push(
          `migration ${number}: not safe to repeat before a concurrent index: ${command.slice(0, 80)}`,
        )
    }
    for (const command of commands) {
      const created = /^create table (?:if not exists )?hookonce\.(\w+)/.exec(command)?.[1]
      if (created) filled.add(created)
    }
    return problems
  })
}

test('no migration scans or rewrites a filled table under a lock', () => {
  expect(problemsOf(migrations)).toEqual([])
})

test('each blocking form is recognised', () => {
  const forms = [
    'create index slow on hookonce.events (reason);',
    'create unique index slow on hookonce.events (reason);',
    'create index concurrently slow on hookonce.events (reason);',
    'alter table hookonce.events alter column part type bigint;',
    'alter table hookonce.events add column a int, add column b timestamptz default clock_timestamp();',
    'alter table hookonce.events add constraint positive check (part >= 0);',
    'alter table hookonce.events alter column reason set not null;',
    'alter table hookonce.events set unlogged;',
    'update hookonce.events set part = 1;',
    'insert into hookonce.totals (source) select source from hookonce.events;',
    'lock table hookonce.events in share mode;',
    'create table hookonce.fresh (a int);\ncreate index concurrently if not exists slow on hookonce.events (reason);',
  ]
  const number = migrations.at(-1)!.number + 1
  for (const sql of forms)
    expect(problemsOf([...migrations, { number, name: 'next', sql }]), sql).toHaveLength(1)
  const fine = [
    'alter table hookonce.events add column a int default 7;',
    'alter table hookonce.events add constraint positive check (part >= 0) not valid;',
    'create index concurrently if not exists fast on hookonce.events (reason);',
    'create table hookonce.fresh (a int);\ncreate index fresh_a on hookonce.fresh (a);',
  ]
  for (const sql of fine) expect(problemsOf([...migrations, { number, name: 'next', sql }]), sql).toEqual([])
})

test('an index that a killed process left unfinished is built again, and old and new logs have the same indexes', async () => {
  const fresh = await postgresSchemaLog()
  const log = await postgresSchemaLog()
  const schema = log.args[2]!
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    const newer = fresh.open()
    await newer.migrate()
    await newer.close()
    const old = migrations.filter(({ number }) => number <= FIRST_RELEASE)
    const text = old.map(
      ({ number, name, sql }) =>
        `${sql}\ninsert into hookonce.migrations (number, name) values (${number}, '${name}');`,
    )
    await log.sql(text.join('\n').replace(/\bhookonce([.;])/g, `${schema}$1`))
    // As `create index concurrently` leaves it when its process is killed.
    await client.query(`alter table ${schema}.events add column same_as text collate "C"`)
    await client.query(`create index events_same_as on ${schema}.events (source)`)
    await client.query(
      `update pg_index set indisvalid = false where indexrelid = '${schema}.events_same_as'::regclass`,
    )
    const store = postgres({ url: inject('postgresUrl'), schema })
    expect((await store.migrate()).from).toBe(FIRST_RELEASE)
    await store.close()
    const indexes = async (of: string) => {
      const { rows } = await client.query<{ definition: string; valid: boolean }>(
        `select replace(pg_get_indexdef(i.indexrelid), $1 || '.', '') as definition, i.indisvalid as valid
         from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = $1 and c.relname in ('events', 'work') order by 1`,
        [of],
      )
      return rows
    }
    const found = await indexes(schema)
    expect(found.every(({ valid }) => valid)).toBe(true)
    expect(found).toEqual(await indexes(fresh.args[2]!))
  } finally {
    await client.end()
    await fresh.remove()
    await log.remove()
  }
})
