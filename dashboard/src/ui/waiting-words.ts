/** Why an event is not finished, in a few words. */
import type { EventView } from '../api/client'
import { relative, visible } from '../app/format'

export type Waiting = NonNullable<EventView['waiting']>

/** For a row. Null where the state says it all. */
export function waitingShort(waiting: Waiting, now: number): string | null {
  switch (waiting.kind) {
    case 'review':
    case 'running':
    case 'due':
      return null
    case 'paused':
      return `paused by ${visible(waiting.actor)}`
    case 'behind':
      return `behind ${visible(waiting.id)}`
    case 'retry':
      return `retry ${relative(Date.parse(waiting.dueAt), now)}`
    case 'postponed':
      return `postponed, ${relative(Date.parse(waiting.dueAt), now)}`
    case 'circuit':
      return 'destination fails'
    case 'places':
      return 'all places taken'
    case 'limit':
      return 'limit of its handler'
    case 'no_worker':
      return 'no worker runs'
    case 'no_handler':
      return 'no handler runs'
  }
}

/** The next attempt is at this time, unless something else holds the event back. */
export function nextAttemptOf({ nextAttemptAt, waiting }: Pick<EventView, 'nextAttemptAt' | 'waiting'>) {
  return waiting?.kind === 'behind' || waiting?.kind === 'paused' ? null : nextAttemptAt
}
