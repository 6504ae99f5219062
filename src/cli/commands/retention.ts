import type { Command } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import { addStoreOption } from '../log/options.js'
import { addNoteOption, collect, day, duration } from '../options.js'
import type { ArchiveCommandOptions } from '../retention/archive.js'
import type { EraseCommandOptions } from '../retention/erase.js'
import type { PruneCommandOptions } from '../retention/prune.js'

export function addRetention(program: Command): void {
  addPrune(program)
  addArchive(program)
  addErase(program)
}

function addPrune(program: Command): void {
  const command = addCommand(program, 'prune', {
    summary: 'delete expired payloads and events',
    description:
      'Deletes payloads, events, attempts and audits of finished events that are older than the configured ages. Unfinished events are kept. An age below the retry window of a sender is an error.',
    examples: ['hookonce prune --dry-run', 'hookonce prune --source stripe --payloads 7d'],
  })
    .option('--source <name>', 'only events of this source; may be repeated', collect)
    .option('--payloads <age>', 'how long payloads are kept (default: as configured, else 30d)', duration)
    .option(
      '--events <age>',
      'how long events and their ids are kept (default: as configured, else 90d)',
      duration,
    )
    .option('--dry-run', 'count expired rows, delete nothing')
  addStoreOption(command).action(
    action<PruneCommandOptions>(async ({ output, options }) =>
      (await import('../retention/prune.js')).prune(output, options),
    ),
  )
}

function addArchive(program: Command): void {
  const archive = addGroup(program, 'archive', 'store payloads outside the log, and restore them')
  const load = () => import('../retention/archive.js')
  const withArchive = (command: Command) =>
    command
      .option(
        '--archive <folder>',
        'the folder of the archive (default: retention.archive of the configuration)',
      )
      .option('--source <name>', 'only events of this source')
  const withDays = (command: Command) =>
    withArchive(command)
      .option('--from <day>', 'from this day on, such as 2026-07-01 (UTC)', day)
      .option('--to <day>', 'up to this day', day)
  const run = addCommand(archive, 'run', {
    summary: 'copy payloads into the archive',
    examples: ['hookonce archive run --archive ./archive'],
  })
  addStoreOption(withArchive(run)).action(
    action<ArchiveCommandOptions>(async ({ output, options }) => (await load()).run(output, options)),
  )
  const list = addCommand(archive, 'list', {
    summary: 'list the contents of the archive',
    examples: ['hookonce archive list --archive ./archive --source stripe --from 2026-07-01'],
  })
  addStoreOption(withDays(list)).action(
    action<ArchiveCommandOptions>(async ({ output, options }) => (await load()).list(output, options)),
  )
  const verify = addCommand(archive, 'verify', {
    summary: 'read the archive back and check every hash',
    examples: ['hookonce archive verify --archive ./archive'],
  })
  addStoreOption(withDays(verify)).action(
    action<ArchiveCommandOptions>(async ({ output, options }) => (await load()).verify(output, options)),
  )
  const restore = addCommand(archive, 'restore', {
    summary: 'copy payloads back to their events',
    examples: ['hookonce archive restore --archive ./archive --id evt_123 --note "replay for ticket 4711"'],
  }).option('--id <event id>', 'only this event; may be repeated', collect)
  addStoreOption(withDays(addNoteOption(restore))).action(
    action<ArchiveCommandOptions>(async ({ output, options }) => (await load()).restore(output, options)),
  )
}

function addErase(program: Command): void {
  const command = addCommand(program, 'erase <reference>', {
    summary: 'delete the payloads of all events with one reference',
    description:
      'Deletes the payload of every delivery with this reference (a customer, an order). The events stay, so that duplicates are still recognised. This cannot be undone.',
    examples: [
      'hookonce erase cus_123 --dry-run',
      'hookonce erase cus_123 --source stripe --note "request of 2026-07-01" --yes',
    ],
  })
    .option('--source <name>', 'only events of this source')
    .option('--dry-run', 'count the payloads, erase nothing')
    .option('--yes', 'do not ask for confirmation')
  addStoreOption(addNoteOption(command)).action(
    action<EraseCommandOptions>(async ({ output, options }, reference: string) =>
      (await import('../retention/erase.js')).erase(output, reference, options),
    ),
  )
}
