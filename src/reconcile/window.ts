/** Which time a run compares, and the parts it reads one after the other. */
import { invalid } from '../errors.js'
import type { ListRange, SenderList } from '../provider.js'
import { instantAt, type ReconcileOptions } from './options.js'

/** A younger event may still be on its way, or not be in the list of the sender yet. */
export const GRACE_MS = 5 * 60_000
const DEFAULT_SINCE = '1d'
/** The clocks of sender and log may differ. */
const CLOCK_MS = 60 * 60_000

const FIRST_PART_MS = 6 * 60 * 60_000
const LEAST_PART_MS = 60_000
const MANY_PAGES = 20

export interface Bounds {
  /** By the clock of the log. */
  readonly now: number
  /** The log forgets events of this age: one that it has forgotten would be recorded and handled again. */
  readonly eventsMs: number
  readonly list: Pick<SenderList, 'reachMs'>
}

/** Null: nothing in it is old enough. */
export function windowOf(
  { since = DEFAULT_SINCE, until }: Pick<ReconcileOptions, 'since' | 'until'>,
  { now, eventsMs, list }: Bounds,
): ListRange | null {
  const wanted = { since: instantAt(since, now), until: until === undefined ? now : instantAt(until, now) }
  if (wanted.since >= wanted.until) throw invalid('since', 'must be before `until`, and not in the future')
  const reach = Math.min(list.reachMs ?? Number.POSITIVE_INFINITY, eventsMs - CLOCK_MS)
  const range = {
    since: Math.max(0, Math.trunc(wanted.since), Math.ceil(now - reach)),
    until: Math.trunc(Math.min(wanted.until, now - GRACE_MS)),
  }
  return range.since < range.until ? range : null
}

/**
 * Parts of a window, from the oldest on: after a crash, a run goes on behind the last part that it has finished, and it holds
 * the missing events of one part. Their length follows the number of pages that the last part had.
 */
export class Parts {
  #partMs: number
  readonly #until: number
  at: number

  constructor({ since, until }: ListRange, byTime: boolean) {
    this.at = since
    this.#until = until
    // A list from the newest back costs the same for a short part as for all that is newer than it.
    this.#partMs = byTime ? FIRST_PART_MS : until - since
  }

  next(): ListRange | null {
    if (this.at >= this.#until) return null
    return { since: this.at, until: Math.min(this.#until, this.at + this.#partMs) }
  }

  finished({ until }: ListRange, pages: number): void {
    this.at = until
    if (pages <= 1) this.#partMs *= 2
    else if (pages > MANY_PAGES) this.#partMs = Math.max(LEAST_PART_MS, this.#partMs / 2)
  }

  /** False: a shorter one is not possible. */
  shorten({ since, until }: ListRange): boolean {
    if (until - since <= LEAST_PART_MS) return false
    this.#partMs = Math.max(LEAST_PART_MS, (until - since) / 4)
    return true
  }
}
