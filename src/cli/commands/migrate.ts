import { type Command, Option } from 'commander'
import { need } from '../../store.js'
import { action, addCommand, addGroup } from '../command.js'
import { addStoreOption } from '../log/options.js'
import type { Output } from '../output.js'

interface StoreOptions {
  readonly store?: string
}

export function addMigrate(program: Command): void {
  const migrate = addGroup(program, 'migrate', 'bring the schema of a log up to date')
  addStoreOption(
    addCommand(migrate, 'up', {
      summary: 'bring the schema up to date',
      description: 'Brings the schema up to date. Several processes may run this at the same time.',
      examples: ['hookonce migrate up --store postgres://localhost/shop'],
    }),
  ).action(action<StoreOptions>(({ output, options }) => up(output, options.store)))
  addStoreOption(
    addCommand(migrate, 'status', {
      summary: 'show the schema version and the version it should have',
      description:
        'Shows the schema version of the log and the version that this hookonce needs. Exit code 1 when they differ.',
      examples: ['hookonce migrate status --store postgres://localhost/shop'],
    }),
  ).action(action<StoreOptions>(({ output, options }) => status(output, options.store)))
  addCommand(migrate, 'sql', {
    summary: 'print the migrations as SQL, for people who run them with their own tool',
    examples: ['hookonce migrate sql > hookonce.sql', 'hookonce migrate sql --schema webhooks'],
  })
    .addOption(
      new Option('--database <name>', 'the database').choices(['postgres', 'sqlite']).default('postgres'),
    )
    .option('--schema <name>', 'the PostgreSQL schema', 'hookonce')
    .action(
      action<{ database: 'postgres' | 'sqlite'; schema: string }>(({ output, options }) =>
        sql(output, options.database, options.schema),
      ),
    )
}

async function up(output: Output, storeUrl: string | undefined): Promise<void> {
  const { openAnyStore } = await import('../store.js')
  const store = await openAnyStore(storeUrl)
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

/** Exit code 1 when the schema cannot be used, for scripts that wait for a migration. */
async function status(output: Output, storeUrl: string | undefined): Promise<number> {
  const { openExistingStore } = await import('../store.js')
  const store = await openExistingStore(storeUrl)
  try {
    const { schema } = await need(store, 'inspect', 'hookonce migrate status').report()
    const missing = schema.known - schema.found
    const usable = missing === 0 || (schema.needed ?? Number.POSITIVE_INFINITY) <= schema.known
    output.result({ store: store.name, ...schema, upToDate: usable }, () => {
      if (usable && missing < 0)
        return `${store.name} has schema ${schema.found}, newer than schema ${schema.known} of this hookonce, which can still use it`
      if (missing === 0) return `${store.name} is up to date: schema ${schema.found}`
      return missing > 0
        ? `${store.name} has schema ${schema.found}; this hookonce needs ${schema.known}. Run hookonce migrate up.`
        : `${store.name} has schema ${schema.found}; this hookonce supports only up to ${schema.known}. Upgrade hookonce.`
    })
    return usable ? 0 : 1
  } finally {
    await store.close()
  }
}

/** Needs no connection to a database. */
async function sql(output: Output, database: 'postgres' | 'sqlite', schema: string): Promise<void> {
  const text =
    database === 'postgres'
      ? (await import('../../stores/postgres/postgres.js')).postgresMigrationsSql(schema)
      : await sqliteSql()
  output.result({ database, sql: text }, () => text)
}

async function sqliteSql(): Promise<string> {
  const { migrations } = await import('../../stores/sqlite/schema.js')
  const { noteAsSql } = await import('../../stores/sqlite/migrate.js')
  return migrations
    .map((migration) => {
      const { number, name, sql: statements } = migration
      const note = noteAsSql(migration, 'unixepoch() * 1000')
      return `-- ${number}: ${name}\nbegin immediate;\n${statements.trim()}\n${note}\ncommit;\n`
    })
    .join('\n')
}
