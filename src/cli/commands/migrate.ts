import { type Command, Option } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import { addStoreOption } from '../log/options.js'

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
  ).action(
    action<StoreOptions>(async ({ output, options }) =>
      (await import('../migrate.js')).up(output, options.store),
    ),
  )
  addStoreOption(
    addCommand(migrate, 'status', {
      summary: 'show the schema version and the version it should have',
      description:
        'Shows the schema version of the log and the version that this hookonce needs. Exit code 1 when they differ.',
      examples: ['hookonce migrate status --store postgres://localhost/shop'],
    }),
  ).action(
    action<StoreOptions>(async ({ output, options }) =>
      (await import('../migrate.js')).status(output, options.store),
    ),
  )
  addCommand(migrate, 'sql', {
    summary: 'print the migrations as SQL, for people who run them with their own tool',
    examples: ['hookonce migrate sql > hookonce.sql', 'hookonce migrate sql --schema webhooks'],
  })
    .addOption(
      new Option('--database <name>', 'the database').choices(['postgres', 'sqlite']).default('postgres'),
    )
    .option('--schema <name>', 'the PostgreSQL schema', 'hookonce')
    .action(
      action<{ database: 'postgres' | 'sqlite'; schema: string }>(async ({ output, options }) =>
        (await import('../migrate.js')).sql(output, options.database, options.schema),
      ),
    )
}
