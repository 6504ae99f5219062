/** A filter applied to events that are already here: what the store does for `list`, for a stream. */
import { globMatches } from '../../glob.js'
import type { EventFilter } from '../../model.js'
import type { EventView } from '../log/event-log.js'

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
    (flagged === undefined || ((event.sameAs ?? event.contests ?? null) !== null) === flagged)
}
