/** The cursor and the filter of `list`, the same in every store. */
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
