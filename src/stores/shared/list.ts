/** Parts of `list` that every store needs: the cursor, the filter, the choice of an index, and the way past a backlog. */
import { invalid } from '../../errors.js'
import type { EventFilter } from '../../model.js'

export const DEFAULT_PAGE = 50

/** A cursor holds the last seq of a page. It is encoded, so that callers do not come to rely on its content. */
export function encodeCursor(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url')
}

/** Throws INVALID_INPUT for a text that `encodeCursor` did not make. */
export function decodeCursor(text: string): number {
  const digits = Buffer.from(String(text), 'base64url').toString('latin1')
  const seq = Number(digits)
  if (!/^[1-9]\d{0,15}$/.test(digits) || !Number.isSafeInteger(seq) || encodeCursor(seq) !== text) {
    throw invalid('cursor', 'must be the value that a page of this list returned')
  }
  return seq
}

/**
 * Adds the state that `dead` implies: only failed events can be dead. Null when no event can match, because
 * the filter names `dead` and another state.
 */
export function withImpliedState(filter: EventFilter): EventFilter | null {
  if (filter.dead === undefined || filter.state === 'failed') return filter
  return filter.state === undefined ? { ...filter, state: 'failed' } : null
}

/** `work` has every unfinished event, `leased` and `retrying` some of them. `ignored` and `dead` events are parked. */
export type ListIndex =
  | 'key'
  | 'reference'
  | 'work'
  | 'leased'
  | 'retrying'
  | 'ignored'
  | 'dead'
  | 'flagged'
  | 'conflicts'
  | 'duplicates'
  | 'types'

/** With more (source, type) pairs than this, the whole log is read instead. */
export const PAIRS_AT_MOST = 256

/**
 * Takes a filter with its implied state. The most selective condition chooses; the other conditions are
 * checked on the rows found.
 */
export function indexesFor(filter: EventFilter): readonly ListIndex[] {
  const { state, dead } = filter
  if (filter.id !== undefined) return ['key']
  if (filter.reference !== undefined) return ['reference']
  if (state === 'pending') return ['work']
  if (state === 'processing') return ['leased']
  if (state === 'ignored') return ['ignored']
  if (dead !== undefined) return dead ? ['dead'] : ['retrying', 'leased']
  if (state === 'failed') return ['retrying', 'leased', 'dead']
  const givesReason = filter.reason !== undefined || filter.reasonLike !== undefined
  if (givesReason && state === undefined) return ['retrying', 'leased', 'dead', 'ignored']
  if (filter.flagged) return ['flagged']
  if (filter.hasConflict) return ['conflicts']
  if (filter.hasDuplicates) return ['duplicates']
  return ['types']
}

/** The newest events below a seq: how many there are, the lowest of their seqs, and how many of them are in `work`. */
export interface Portion {
  readonly events: number
  readonly lowest: number | null
  readonly waiting: number
}

/** Events of a backlog that one call passes over: to count them takes a tenth of the time that it takes to read them. */
const PASSED_AT_MOST = 400_000
const PORTION_AT_LEAST = 2_000
const PORTION_AT_MOST = 100_000

/**
 * The events of a backlog can be passed over. No index has the succeeded events: on PostgreSQL each success would
 * have to update its event, 503 bytes of WAL beside the 314 of a settled event now, for a list that people read.
 */
export function passesBacklog(filter: EventFilter): boolean {
  return filter.state === 'succeeded'
}

/**
 * Finds the first finished event below a seq, in portions. Yields the next portion to count, and returns the seq to go on
 * below. A portion whose events are all in `work` is passed over; one with others is counted again in smaller parts.
 */
export function* passBacklog(
  from: number,
): Generator<{ readonly below: number; readonly size: number }, number, Portion> {
  let below = from
  let size = PORTION_AT_LEAST
  let isMixed = false
  for (let passed = 0; passed < PASSED_AT_MOST; ) {
    const { events, lowest, waiting } = yield { below, size }
    if (lowest !== null && events === waiting) {
      below = lowest
      passed += events
      if (!isMixed) size = Math.min(size * 4, PORTION_AT_MOST)
    } else if (lowest === null || size === PORTION_AT_LEAST) {
      return below
    } else {
      isMixed = true
      size = Math.max(Math.floor(size / 4), PORTION_AT_LEAST)
    }
  }
  return below
}
