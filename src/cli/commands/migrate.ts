import type { Command } from 'commander'
import { need } from '../../store.js'
import { addCommand, addGroup } from '../command.js'
import { storeOption } from '../log/options.js'
import { text } from '../options.js'
import type { Output } from '../output.js'
import { openAnyStore, openExistingStore } from '../store.js'

export function add(program: Command): void {
  const migrate = addGroup(program, 'migrate')
  addCommand(migrate, 'up', {
    summary: 'bring the schema up to date',
    description: 'Brings the schema up to date. Several processes may run this at the same time.',
    examples: ['hookonce migrate up --store postgres://localhost/shop'],
    options: storeOption,
    run: ({ output, options }) => up(output, options.store),
  })
  addCommand(migrate, 'status', {
    summary: 'show the schema version and the version it should have',
    description:
      'Shows the schema version of the log and the version that this hookonce needs. Exit code 1 when they differ.',
    examples: ['hookonce migrate status --store postgres://localhost/shop'],
    options: storeOption,
    run: ({ output, options }) => status(output, options.store),
  })
  addCommand(migrate, 'sql', {
    summary: 'print the migrations of PostgreSQL as SQL, for people who run them with their own tool',
    examples: ['hookonce migrate sql > hookonce.sql', 'hookonce migrate sql --schema webhooks'],
    options: { schema: { ...text('<name>', 'the PostgreSQL schema'), initial: 'hookonce' } },
    async run({ output, options }) {
      const { postgresMigrationsSql } = await import('../../stores/postgres/postgres.js')
      const sql = postgresMigrationsSql(options.schema)
      output.result({ sql }, () => sql)
    },
  })
}

async function up(output: Output, storeUrl: string | undefined): Promise<void> {
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

/** Scripts that wait for a migration use the exit code. */
async function status(output: Output, storeUrl: string | undefined): Promise<number> {
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
