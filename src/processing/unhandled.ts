/** Counts and logs events that go to the review list because no process handles their type. */
import type { Counters } from '../counters.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'

/** Senders decide which types there are, so only so many are counted. */
const MAX_TYPES = 1_000

export function unhandledNotice({
  log,
  counters,
}: {
  readonly log: Logger
  readonly counters: Counters
}): (event: ClaimedEvent) => void {
  const byType = new Map<string, number>()
  return ({ source, id, type: eventType }) => {
    counters.of(source).reviewed++
    const own = `${source} ${eventType}`
    const type = byType.has(own) || byType.size < MAX_TYPES ? own : 'others'
    const events = (byType.get(type) ?? 0) + 1
    byType.set(type, events)
    // The first, the second, the fourth, ...: many senders always send types that an application does not want.
    if ((events & (events - 1)) !== 0) return
    log.warn(
      { source, eventId: id, type: eventType, step: 'settle', reason: 'unhandled', events },
      'no process handles this type: event put on the review list. Add a handler and replay it, or ignore the type in a handler for "*"',
    )
  }
}
