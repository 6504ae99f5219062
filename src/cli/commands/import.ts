import { type Command, Option } from 'commander'
import { importedStates } from '../../store/imports.js'
import { action, addCommand } from '../command.js'
import type { ImportCommandOptions } from '../import/import.js'
import { addStoreOption } from '../log/options.js'
import { addNoteOption, collect } from '../options.js'

export function addImport(program: Command): void {
  const command = addCommand(program, 'import <source>', {
    summary: 'make events known that another program has handled',
    description:
      'Adds the events of a hand-written table to the log, with their own times, so that a retry of their sender is a duplicate. No handler runs. Reads CSV or NDJSON from a file or standard input, or the rows of a SELECT. The log of an event that is known is not changed, so an import that was interrupted can be run again.',
    examples: [
      'hookonce import stripe --query "select event_id, type, received_at from webhook_events" --database postgres://localhost/shop --dry-run',
      'hookonce import stripe --file events.csv --map id=stripe_id --map time=created',
      'zcat events.ndjson.gz | hookonce import github --file -',
    ],
  })
    .option(
      '--file <path>',
      'a CSV file with a header line, or a file with one JSON object per line; - for standard input',
    )
    .option('--query <select>', 'a SELECT whose rows are events')
    .option('--database <url>', 'the PostgreSQL database of --query (default: that of the store)')
    .option(
      '--map <field=column>',
      'which column is id, type, time, processed, reference, payload or state; may be repeated (default: by usual names)',
      collect,
    )
    .addOption(
      new Option('--state <state>', 'the state of events without a state column')
        .choices([...importedStates])
        .default('succeeded'),
    )
    .option('--dry-run', 'read and check all rows, write nothing')
  addStoreOption(addNoteOption(command)).action(
    action<ImportCommandOptions>(async ({ output, options }, source: string) =>
      (await import('../import/import.js')).importCommand(output, source, options),
    ),
  )
}
