/** What a filter means where it leaves something unsaid: the same in every store. */
import type { EventFilter } from '../../model.js'

/** `dead` speaks of failed events: alone it asks for them, and beside another state nothing matches. Null = nothing does. */
export function withDeadSaid(filter: EventFilter): EventFilter | null {
  if (filter.dead === undefined || filter.state === 'failed') return filter
  return filter.state === undefined ? { ...filter, state: 'failed' } : null
}
