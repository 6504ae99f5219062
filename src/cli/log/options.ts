import { globMatches } from '../../glob.js'
import { type EventFilter, states } from '../../model.js'
import { defined } from '../../options.js'
import { UsageError } from '../failure.js'
import { choice, flag, instant, type OptionsOf, parsed, text } from '../options.js'
import type { EventView } from './event-log.js'

export const storeOption = {
  store: text(
    '<url>',
    'sqlite:path or postgres://user@host/db (HOOKONCE_STORE; default sqlite:.hookonce/events.db)',
  ),
}

export const logOptions = {
  ...storeOption,
  server: text(
    '<url>',
    'use the API of this server, with the token in HOOKONCE_TOKEN, instead of opening a store (HOOKONCE_SERVER)',
  ),
}
export type LogOptions = OptionsOf<typeof logOptions>

export const filterOptions = {
  source: text('<name>', 'only events of this source'),
  type: text('<type>', 'only events of this type; * matches any text'),
  state: choice('<state>', 'only events in this state', states),
  dead: flag('only dead letters'),
  reference: text('<text>', 'only events with this reference: their object, customer, order, ...'),
  label: text('<label>', 'with --reference: the label that it must have, such as customer'),
  since: parsed(
    '<time>',
    'only events received since: 2026-07-01T12:00:00Z, or 2h for two hours ago',
    instant,
  ),
  until: parsed('<time>', 'only events received before', instant),
  duplicates: flag('only events that were delivered more than once'),
  conflicts: flag('only events with an open conflict: delivered again with other bytes, and not decided'),
  flagged: flag('only events with the signed content of another event'),
  reason: text('<text>', 'only events ignored for this reason, such as unhandled'),
}

export function filterOf(options: OptionsOf<typeof filterOptions>): EventFilter {
  const { source, type, reference, label, reason, since: from, until: to } = options
  if (label !== undefined && reference === undefined)
    throw new UsageError('--label needs --reference, the value to look for.')
  if (options.dead && options.state !== undefined && options.state !== 'failed')
    throw new UsageError(
      '--dead selects failed events without a next attempt: leave --state out, or use --state failed.',
    )
  const state = options.dead ? 'failed' : options.state
  return defined({
    source,
    type,
    state,
    reference,
    label,
    reason,
    from,
    to,
    dead: options.dead || undefined,
    hasDuplicates: options.duplicates || undefined,
    hasConflict: options.conflicts || undefined,
    flagged: options.flagged || undefined,
  })
}

/** A stream cannot be filtered by the store, so its events are compared here. */
export function matcher(filter: EventFilter): (event: EventView) => boolean {
  const {
    source,
    type,
    state,
    dead,
    reason,
    reference,
    label,
    from,
    to,
    hasDuplicates,
    hasConflict,
    flagged,
  } = filter
  return (event) =>
    (source === undefined || event.source === source) &&
    (type === undefined || globMatches(type, event.type)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && event.dead === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reference === undefined || refersTo(event, reference, label)) &&
    (from === undefined || Date.parse(event.receivedAt) >= from) &&
    (to === undefined || Date.parse(event.receivedAt) < to) &&
    (hasDuplicates === undefined || event.deliveries > 1 === hasDuplicates) &&
    (hasConflict === undefined || (event.lastConflict?.decidedAt === null) === hasConflict) &&
    (flagged === undefined || ((event.sameAs ?? null) !== null) === flagged)
}

function refersTo({ reference, references }: EventView, value: string, label: string | undefined): boolean {
  if (label === undefined && reference === value) return true
  return references.some((one) => one.value === value && (label ?? one.label) === one.label)
}
