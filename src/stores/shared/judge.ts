/** The verdict on an event, from what a store has found or written in its transaction. Both stores judge here. */
import type { Action, EventKey, RecordVerdict, State } from '../../model.js'

export interface Found {
  /** Null: nothing was stored, because its signed content is known under another id and the source rejects that. */
  readonly seq: number | null
  readonly isNew: boolean
  readonly state: State
  readonly final: boolean
  /** Content that cannot be compared counts as equal. */
  readonly equal: boolean
  readonly sameAs: string | null
  /** It waits for a review because of `sameAs` and was never handled. */
  readonly withheld: boolean
}

export function newlyFound(seq: number): Found {
  return { seq, isNew: true, state: 'pending', final: false, equal: true, sameAs: null, withheld: false }
}

export function judge({ seq, isNew, state, final, equal, sameAs, withheld }: Found): RecordVerdict {
  if (seq === null) return { status: 'replayed' }
  if (!isNew && withheld && !equal) return { status: 'duplicate', seq, state: 'pending', final: false, equal } // see `takeOver`
  if (!isNew) return { status: 'duplicate', seq, state, final, equal }
  return {
    status: 'recorded',
    seq,
    state: state === 'ignored' ? 'ignored' : 'pending',
    ...(sameAs !== null && { sameAs }),
  }
}

/** Retention has removed the event of other content in this moment: sent again, that content is a new event. */
export const JUST_REMOVED = 'the event of this id was removed a moment ago; the delivery has to be sent again'

/** An id that a withheld event has must not keep other content from being handled: the other content takes its place. */
export function takeOver(event: EventKey): Action {
  return {
    verb: 'retry',
    conflict: true,
    events: [event],
    actor: 'hookonce',
    note: 'other signed content came under an id that was held by a replay',
  }
}
