/** Options that choose a log, and options that choose events in it. */
import { type Command, Option } from 'commander'
import { globMatches } from '../../glob.js'
import { type EventFilter, states } from '../../model.js'
import { UsageError } from '../failure.js'
import { defined, instant } from '../options.js'
import type { EventView } from './event-log.js'

export interface LogOptions {
  readonly store?: string
  readonly server?: string
  readonly token?: string
}

/** For commands that open a store or use the API of a server. */
export function addLogOptions(command: Command): Command {
  return addStoreOption(command)
    .option('--server <url>', 'use the API of this server instead of opening a store (HOOKONCE_SERVER)')
    .option('--token <token>', 'a token of that server (better: HOOKONCE_TOKEN)')
}

export function addStoreOption(command: Command): Command {
  return command.option(
    '--store <url>',
    'sqlite:path or postgres://user@host/db (HOOKONCE_STORE; default sqlite:.hookonce/events.db)',
  )
}

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

export function addFilterOptions(command: Command): Command {
  return command
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
    .option('--flagged', 'only events with the signed content of another event')
    .option('--reason <text>', 'only events ignored for this reason, such as unhandled')
}

export function filterOf(options: FilterOptions): EventFilter {
  const { source, type, reference, reason, since: from, until: to } = options
  if (options.dead && options.state !== undefined && options.state !== 'failed')
    throw new UsageError(
      '--dead selects failed events without a next attempt: leave --state out, or use --state failed.',
    )
  const state = options.dead ? 'failed' : (options.state as EventFilter['state'])
  return defined({
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
  })
}

/** The filter as a function, for events of a stream. */
export function matcher(filter: EventFilter): (event: EventView) => boolean {
  const { source, type, state, dead, reason, reference, from, to, hasDuplicates, hasConflict, flagged } =
    filter
  return (event) =>
    (source === undefined || event.source === source) &&
    (type === undefined || globMatches(type, event.type)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && event.dead === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reference === undefined || event.reference === reference) &&
    (from === undefined || Date.parse(event.receivedAt) >= from) &&
    (to === undefined || Date.parse(event.receivedAt) < to) &&
    (hasDuplicates === undefined || event.deliveries > 1 === hasDuplicates) &&
    (hasConflict === undefined || event.conflicts > 0 === hasConflict) &&
    (flagged === undefined || ((event.sameAs ?? null) !== null) === flagged)
}
