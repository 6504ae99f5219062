/** `hookonce migrate`: the schema of a log. */

import type { Output } from './output.js'
import { openAnyStore, openExistingStore } from './store.js'

export async function up(output: Output, given: string | undefined): Promise<void> {
  const store = await openAnyStore(given)
  try {
    const report = await store.migrate()
    output.result({ store: store.name, ...report }, () =>
      report.applied.length === 0
        ? `${store.name} is up to date: schema ${report.to}`
        : `${store.name} is now at schema ${report.to} (was ${report.from})`,
    )
  } finally {
    await store.close()
  }
}

/** Exit code 1 when something is to be done, for scripts that wait for it. */
export async function status(output: Output, given: string | undefined): Promise<number> {
  const store = await openExistingStore(given)
  try {
    const { schema } = await store.inspect()
    const waiting = schema.known - schema.found
    const usable = waiting === 0 || (schema.needed ?? Number.POSITIVE_INFINITY) <= schema.known
    output.result({ store: store.name, ...schema, upToDate: usable }, () => {
      if (usable && waiting < 0)
        return `${store.name} has schema ${schema.found}; this hookonce knows up to ${schema.known} and can work with it`
      if (waiting === 0) return `${store.name} is up to date: schema ${schema.found}`
      return waiting > 0
        ? `${store.name} has schema ${schema.found}; this hookonce needs ${schema.known}. Run hookonce migrate up.`
        : `${store.name} has schema ${schema.found}, this hookonce knows up to ${schema.known}. Upgrade hookonce.`
    })
    return usable ? 0 : 1
  } finally {
    await store.close()
  }
}

/** For people who run their own migrations. Nothing is connected to. */
export async function sql(output: Output, database: 'postgres' | 'sqlite', schema: string): Promise<void> {
  const text =
    database === 'postgres'
      ? (await import('../stores/postgres/postgres.js')).postgresMigrationsSql(schema)
      : await sqliteSql()
  output.result({ database, sql: text }, () => text)
}

async function sqliteSql(): Promise<string> {
  const { migrations } = await import('../stores/sqlite/migrations.js')
  const { noteAsSql } = await import('../stores/sqlite/migrate.js')
  return migrations
    .map((migration) => {
      const { number, name, sql: statements } = migration
      const note = noteAsSql(migration)
      return `-- ${number}: ${name}\nbegin immediate;\n${statements.trim()}\n${note}\ncommit;\n`
    })
    .join('\n')
}
