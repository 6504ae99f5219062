/** The verdict on an event, in words: the first thing that somebody with a ticket wants to know. */
import type { EventView } from '../../api/client'
import { count, number, relative, visible } from '../../app/format'
import { hasOpenConflict, type Shown, shownState } from '../../ui/state'
import { nextAttemptOf } from '../../ui/waiting-words'

export interface Verdict {
  readonly tone: Shown
  readonly title: string
  readonly rest: readonly string[]
  readonly todo: string | null
}

/** `undecided`: the number of effects whose end is unknown. */
export function verdictOf(
  event: EventView,
  succeededTimes: number | null,
  undecided: number,
  now: number,
): Verdict {
  return {
    tone: shownState(event),
    title: titleOf(event, succeededTimes, now),
    rest: [deliveriesOf(event), conflictsOf(event), flagsOf(event)].filter((text) => text !== null),
    todo: todoOf(event, undecided),
  }
}

function titleOf(event: EventView, succeededTimes: number | null, now: number): string {
  const { attempts, run } = event
  const nextAttemptAt = nextAttemptOf(event)
  switch (shownState(event)) {
    case 'succeeded':
      if (succeededTimes !== null && succeededTimes > 1)
        return `Handled ${number(succeededTimes)} times: it was replayed by an operator.`
      return attempts > 1 && run === 1 ? `Handled once, on attempt ${number(attempts)}.` : 'Handled once.'
    case 'processing':
      return `Being handled now, attempt ${number(Math.max(1, attempts))}.`
    case 'pending':
      return attempts === 0 && run <= 1 ? 'Recorded, waiting to be handled.' : 'Waiting to be handled again.'
    case 'retrying': {
      if (nextAttemptAt === null) return `Failed ${times(attempts)} so far.`
      const next = Date.parse(nextAttemptAt)
      const when = next <= now ? 'is due now' : `starts ${relative(next, now)}`
      return `Failed ${times(attempts)} so far. The next attempt ${when}.`
    }
    case 'dead':
      return `Failed ${times(attempts)} and given up: a dead letter.`
    case 'ignored':
      return ignoredOf(event.reason)
  }
}

function times(value: number): string {
  return value === 1 ? 'once' : `${number(value)} times`
}

function ignoredOf(reason: string | null): string {
  switch (reason) {
    case 'unhandled':
      return 'Not handled: no handler is registered for this type.'
    case 'replayed_content':
      return 'Not handled: its signed content is known under another id.'
    case 'stale':
      return 'Not handled: a newer event with the same reference was handled first.'
    case 'operator':
      return 'Not handled: an operator ignored it.'
    case 'other_consumers':
      return 'Handled by its consumers only: the source has no handler of its own.'
    case null:
      return 'Not handled: it was ignored.'
    default:
      return `Ignored by the handler: ${visible(reason)}`
  }
}

function deliveriesOf({ deliveries, conflicts }: EventView): string | null {
  const duplicates = deliveries - 1 - conflicts
  if (deliveries <= 1) return '1 delivery, no duplicates.'
  if (duplicates <= 0) return `${count(deliveries, 'delivery', 'deliveries')}.`
  return `${count(deliveries, 'delivery', 'deliveries')}, ${count(duplicates, 'duplicate')} stopped.`
}

function conflictsOf({ conflicts, lastConflict }: EventView): string | null {
  if (lastConflict === null) return null
  const decision = lastConflict.decidedAt === null ? 'nobody has decided about it yet' : 'this was decided'
  return `${count(conflicts, 'delivery', 'deliveries')} had other content under the same id; ${decision}.`
}

function flagsOf({ sameAs }: EventView): string | null {
  if (sameAs !== null) return `Its signed content is the same as that of ${visible(sameAs)}.`
  return null
}

function todoOf(event: EventView, undecided: number): string | null {
  if (shownState(event) === 'dead' && undecided > 0)
    return 'An effect was begun, and nobody knows whether it happened. Look at the other service, then decide about it below.'
  if (shownState(event) === 'dead') return 'Mend the cause shown below, then retry it.'
  if (event.reason === 'unhandled' && event.state === 'ignored')
    return 'Register a handler for this type and retry, or leave it.'
  if (event.reason === 'replayed_content' && event.state === 'ignored')
    return 'Compare it with the first event. Retry it if the sender really sent it twice.'
  if (hasOpenConflict(event))
    return 'Compare the two contents below, then run the other one or keep the first. The sender, or somebody with its secret, changed the content.'
  return null
}
