/**
 * The texts of the PostgreSQL migrations: none of them blocks the intake of older processes for longer than a moment,
 * whatever the size of the log. A form that scans or rewrites a filled table under a lock is refused.
 */
import type { Migration } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { migrations } from '#dist/stores/postgres/schema.js'

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

function commandsOf(sql: string): string[] {
  const bare = sql.replace(/\$\$[\s\S]*?\$\$/g, "''").replace(/--.*$/gm, '')
  return bare.split(';').map((command) => `${command.trim().replace(/\s+/g, ' ').toLowerCase()};`)
}

function problemsOf(list: readonly Migration[]): string[] {
  const filled = new Set<string>()
  return list.flatMap(({ number, sql, portions }) => {
    const commands = commandsOf(sql)
    const problems = commands.flatMap((command) =>
      Object.entries(blocking).flatMap(([what, form]) => {
        const table = form.exec(command)?.[1]
        if (table === undefined || !filled.has(table)) return []
        if (portions && /^(?:update|delete|insert)/.test(command)) return []
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
