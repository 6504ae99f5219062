import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import type { OrderCommandOptions } from '../events/orders.js'
import type { Verb } from '../log/event-log.js'
import { addFilterOptions, type FilterOptions, filterOf } from '../log/filter.js'
import { addLogOptions, type LogOptions } from '../log/options.js'
import { rate } from '../parse.js'

const texts: Readonly<Record<Verb, { readonly summary: string; readonly examples: readonly string[] }>> = {
  retry: {
    summary: 'try failed or ignored events again',
    examples: [
      'hookonce retry evt_123',
      'hookonce retry --source stripe --dead --since 24h --rate 20 --dry-run',
    ],
  },
  replay: {
    summary: 'run events again, also succeeded ones (with --force)',
    examples: [
      'hookonce replay evt_123 --reason "fixed the handler"',
      'hookonce replay stripe/evt_123 --force --reason "effects may happen again"',
    ],
  },
  ignore: {
    summary: 'mark events as ignored, so that they are not handled',
    examples: [
      'hookonce ignore evt_123 --reason "test delivery"',
      "hookonce ignore --source github --type 'ping*'",
    ],
  },
}

export function addOrders(program: Command): void {
  for (const verb of ['retry', 'replay', 'ignore'] as const) addOrder(program, verb)
}

function addOrder(program: Command, verb: Verb): void {
  const command = addCommand(program, `${verb} [ids...]`, {
    summary: texts[verb].summary,
    description: `${texts[verb].summary[0]!.toUpperCase()}${texts[verb].summary.slice(1)}: name the events (id, or source/id), or choose them with a filter. Each change is recorded in the audit.`,
    examples: texts[verb].examples,
  })
    .option('--dry-run', 'print what would happen, change nothing')
    .option('--rate <n>', 'events per second at most', rate)
    .option('--reason <text>', 'the reason, for the audit')
  if (verb === 'replay')
    command.option('--force', 'also run succeeded events again; their effects may happen again')
  addLogOptions(addFilterOptions(command, { reason: false })).action(
    action<FilterOptions & LogOptions & OrderCommandOptions>(async ({ output, options }, ids: string[]) => {
      const { reason: _, ...filter } = options
      const wanted = filterOf(filter)
      const [{ orderEvents }, { openLog }] = await Promise.all([
        import('../events/orders.js'),
        import('../log/open-log.js'),
      ])
      await using log = await openLog(options)
      return await orderEvents(output, log, verb, ids, wanted, options)
    }),
  )
}
