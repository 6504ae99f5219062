/** Parts of `list` that are the same in every store: the cursor, the filter, and the way past a backlog. */
import { invalid } from '../../errors.js'
import type { EventFilter } from '../../model.js'

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
 * The filter with the state that `dead` implies: only failed events can be dead. Null when no event can match, because
 * the filter names `dead` and another state.
 */
export function withImpliedState(filter: EventFilter): EventFilter | null {
  if (filter.dead === undefined || filter.state === 'failed') return filter
  return filter.state === undefined ? { ...filter, state: 'failed' } : null
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
 * Whether the events of a backlog can be passed over. No index has the succeeded events: on PostgreSQL each success would
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
