import type { Command } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import type { ExportOptions, ShowOptions } from '../events/events.js'
import {
  addFilterOptions,
  addLogOptions,
  type FilterOptions,
  filterOf,
  type LogOptions,
  matcher,
} from '../log/options.js'
import { addNoteOption, count } from '../options.js'

const load = () => Promise.all([import('../events/events.js'), import('../log/open-log.js')])

export function addEvents(program: Command): void {
  const events = addGroup(program, 'events', 'read the event log')
  addList(events)
  addShow(events)
  addTail(events)
  addExport(events)
}

function addList(events: Command): void {
  const command = addCommand(events, 'list', {
    summary: 'list the latest events',
    examples: [
      'hookonce events list',
      'hookonce events list --source stripe --dead --since 24h',
      'hookonce events list --server https://hooks.example.com --json',
    ],
  })
    .option('--limit <n>', 'the number of events', count, 20)
    .option('--cursor <cursor>', 'continue after this position, as printed by the page before')
  addLogOptions(addFilterOptions(command)).action(
    action<FilterOptions & LogOptions & { limit: number; cursor?: string }>(async ({ output, options }) => {
      const filter = filterOf(options)
      const [{ list }, { openLog }] = await load()
      await using log = await openLog(options)
      await list(output, log, filter, { limit: options.limit, cursor: options.cursor ?? null })
    }),
  )
}

function addShow(events: Command): void {
  const command = addCommand(events, 'show <id>', {
    summary: 'show one event with its attempts',
    description:
      'Shows one event and its attempts. Name it by its id, or by source/id when several sources have that id.',
    examples: [
      'hookonce events show evt_1PgafmB7WZ01zgkW',
      'hookonce events show stripe/evt_1PgafmB7WZ01zgkW --payload --note "ticket 4711"',
    ],
  })
    .option('--source <name>', 'the source it came from')
    .option('--payload', 'also show its headers and body; this is recorded in the audit')
    .option('--raw', 'print only its body, byte for byte')
  addLogOptions(addNoteOption(command)).action(
    action<ShowOptions & LogOptions>(async ({ output, options }, id: string) => {
      const [{ show }, { openLog }] = await load()
      await using log = await openLog(options)
      await show(output, log, id, options)
    }),
  )
}

function addTail(events: Command): void {
  const command = addCommand(events, 'tail', {
    summary: 'print events as they are recorded',
    examples: ['hookonce events tail --source stripe', 'hookonce events tail --since 1h --json'],
  })
  addLogOptions(addFilterOptions(command)).action(
    action<FilterOptions & LogOptions>(async ({ output, options }) => {
      const matches = matcher(filterOf(options))
      const [{ tail }, { openLog }] = await load()
      await using log = await openLog(options)
      await tail(output, log, matches, options)
    }),
  )
}

function addExport(events: Command): void {
  const command = addCommand(events, 'export', {
    summary: 'export events as JSON lines, for other programs',
    examples: [
      'hookonce events export --since 30d > events.ndjson',
      'hookonce events export --dead --payloads --note "replay in staging" > dead.ndjson',
    ],
  }).option('--payloads', 'include headers and body (base64); each read is recorded in the audit')
  addLogOptions(addFilterOptions(addNoteOption(command))).action(
    action<FilterOptions & LogOptions & ExportOptions>(async ({ output, options }) => {
      const [{ exportEvents }, { openLog }] = await load()
      await using log = await openLog(options)
      await exportEvents(output, log, filterOf(options), options)
    }),
  )
}
