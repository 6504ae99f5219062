/** Options that choose events, the same for every command that does. */
import { type Command, Option } from 'commander'
import { type EventFilter, states } from '../../model.js'
import { UsageError } from '../failure.js'
import { instant } from '../parse.js'

export interface FilterOptions {
  readonly source?: string
  readonly type?: string
  readonly state?: string
  readonly dead?: boolean
  readonly reason?: string
  readonly reference?: string
  readonly since?: number
  readonly until?: number
  readonly duplicates?: boolean
  readonly conflicts?: boolean
  readonly flagged?: boolean
}

/** `reason` is left out where a command has a --reason of its own. */
export function addFilterOptions(command: Command, { reason = true } = {}): Command {
  command
    .option('--source <name>', 'only events of this source')
    .option('--type <type>', 'only events of this type; * matches any text')
    .addOption(new Option('--state <state>', 'only events in this state').choices([...states]))
    .option('--dead', 'only dead letters')
    .option('--reference <text>', 'only events with this reference')
    .option(
      '--since <time>',
      'only events received since: 2026-07-01T12:00:00Z, or 2h for two hours ago',
      instant,
    )
    .option('--until <time>', 'only events received before', instant)
    .option('--duplicates', 'only events that were delivered more than once')
    .option('--conflicts', 'only events that were delivered again with other bytes')
    .option('--flagged', 'only events with the signed content of another event, or a contested id')
  if (reason) command.option('--reason <text>', 'only events ignored for this reason, such as unhandled')
  return command
}

export function filterOf(options: FilterOptions): EventFilter {
  const { source, type, reference, reason, since: from, until: to } = options
  if (options.dead && options.state !== undefined && options.state !== 'failed')
    throw new UsageError(
      '--dead selects failed events without a next attempt: leave --state out, or use --state failed.',
    )
  const state = options.dead ? 'failed' : (options.state as EventFilter['state'])
  const filter = {
    source,
    type,
    state,
    reference,
    reason,
    from,
    to,
    dead: options.dead || undefined,
    hasDuplicates: options.duplicates || undefined,
    hasConflict: options.conflicts || undefined,
    flagged: options.flagged || undefined,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
