/** Says what the state of an event means and what to do. The sentences quote nothing that a sender has chosen. */
import type { AttemptView, EventView } from '../log/event-log.js'

export function explain(event: EventView, attempts: readonly AttemptView[]): string {
  return [stateText(event, attempts), ...notes(event)].join(' ')
}

function stateText(event: EventView, attempts: readonly AttemptView[]): string {
  const { state, dead, reason, nextAttemptAt, processedAt, receivedAt, waiting } = event
  const tries = `${attempts.length} ${attempts.length === 1 ? 'attempt is' : 'attempts are'} recorded.`
  if (state === 'succeeded') return `Its handler succeeded at ${processedAt}. ${tries}`
  const held = waiting && reasons[waiting.kind]
  if (held) return `It was received at ${receivedAt}. ${held} ${tries}`
  if (state === 'pending') return `It was received at ${receivedAt} and waits for a worker.`
  if (state === 'processing') return `A worker is handling it. ${tries}`
  if (state === 'ignored')
    return reason === 'unhandled'
      ? 'It was ignored because no handler matches its type. Register a handler, then retry it.'
      : 'It was ignored for the reason in `event.reason`. A retry runs it.'
  if (dead)
    return `It is a dead letter: it is not retried any more. ${tries} The error is in the last of \`attempts\`. Correct its cause, then retry the event.`
  return `Its last attempt failed, and the next one is at ${nextAttemptAt}. ${tries} The error is in the last of \`attempts\`.`
}

/** Of events that are held back. `event.waiting` has the details, which a sender may have chosen. */
const reasons: Readonly<Partial<Record<NonNullable<EventView['waiting']>['kind'], string>>> = {
  paused: 'An operator has paused its source or its type (`event.waiting`). A resume lets it go on.',
  behind:
    'It waits behind an earlier event of the same reference (`event.waiting`), which has to finish first.',
  postponed: 'Its handler postponed it.',
  circuit: 'Its destination fails, and it is tried again later.',
  places: 'All places for its handler are taken (`event.waiting`).',
  limit: 'The limit of its handler holds it back (`event.waiting`).',
  no_worker: 'It waits because no process runs handlers. Start one.',
  no_handler: 'It waits because no running process has a handler for it.',
}

function notes({ deliveries, lastConflict, sameAs, run, payload }: EventView): string[] {
  return [
    ...(deliveries > 1 ? [`The sender delivered it ${deliveries} times; it is one event.`] : []),
    ...(lastConflict?.decidedAt === null
      ? ['It was also delivered with a different body, and nobody has decided which one counts.']
      : []),
    ...(sameAs ? ['Its signed content equals that of another event (`event.sameAs`).'] : []),
    ...(run > 1 ? [`It was replayed: this is run ${run}.`] : []),
    ...(payload === 'kept' ? [] : ['Its payload is no longer stored.']),
  ]
}
