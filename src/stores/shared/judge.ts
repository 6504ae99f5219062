/** The verdict on an event, from what a store has found or written in its transaction. Both stores judge here. */
import {
  contentGuards,
  type EventKey,
  type NewDelivery,
  type RecordVerdict,
  type State,
} from '../../model.js'
import type { NewAudit } from '../../store.js'

export interface Found {
  /** Null: nothing was stored, because its signed content is known under another id and the source rejects that. */
  readonly seq: number | null
  readonly isNew: boolean
  readonly state: State
  readonly final: boolean
  /** Content that cannot be compared counts as equal. */
  readonly equal: boolean
  readonly sameAs: string | null
  /** Null when it was recorded without a lease. */
  readonly leasedAt: number | null
}

export function newlyFound(seq: number, leasedAt: number | null): Found {
  return { seq, isNew: true, state: 'pending', final: false, equal: true, sameAs: null, leasedAt }
}

export function judge({ seq, isNew, state, final, equal, sameAs, leasedAt }: Found): RecordVerdict {
  if (seq === null) return { status: 'replayed' }
  if (!isNew) return { status: 'duplicate', seq, state, final, equal }
  return {
    status: 'recorded',
    seq,
    state: state === 'ignored' ? 'ignored' : 'pending',
    ...(leasedAt !== null && { leasedAt }),
    ...(sameAs !== null && { sameAs }),
  }
}

/** Retention has removed the event of other content in this moment: sent again, that content is a new event. */
export const JUST_REMOVED = 'the event of this id was removed a moment ago; the delivery has to be sent again'

/** A row was neither inserted nor found, however often it was tried. */
export const DROPPED =
  'the database dropped the row of the event without an error; remove the trigger that does this from the tables of hookonce'

/**
 * Other content takes over an id that a withheld event has, because that event must not keep genuine content from being
 * handled. Content that would be withheld itself does not: it waits for a person, as any conflict.
 */
export function takesOver(
  { contentGuard }: Pick<NewDelivery, 'contentGuard'>,
  sameAs: string | null,
): boolean {
  return sameAs === null || contentGuards[contentGuard].handles
}

export function takeOverAudit({ source, id }: EventKey): NewAudit {
  const note = 'other signed content came under an id that was held by a replay'
  return { actor: 'hookonce', verb: 'retry', source, eventId: id, note }
}
