/** A pass over the log in stretches: finds what one call may take, and remembers where the next call goes on. */
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { seqRange } from './hours.js'

/** How many seqs one query looks at, and how many of those one call makes. */
const WINDOW = 10_000
const WINDOWS = 5
/** At most so many removals of each kind in one transaction, whatever the caller's limit. */
export const REMOVALS = 10_000

export interface Sweep {
  readonly find: string
  readonly source: string
  readonly before: number
  readonly limit: number
  readonly dryRun: boolean
  readonly remove: (row: Row) => void
}

export function sweepLog(connection: Connection, sweep: Sweep): { count: number; more: boolean } {
  const { find, source, before, dryRun, remove } = sweep
  const limit = dryRun ? sweep.limit : Math.min(sweep.limit, REMOVALS)
  const range = seqRange(connection, 0, before, source)
  if (range === null) return { count: 0, more: false }
  const places = placesOf(connection)
  const place = JSON.stringify([find, source])
  const start = dryRun ? range.first : Math.max(range.first, places.get(place) ?? 0)
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = connection.prepare(find).all(source, before, from, from + WINDOW, limit - count + 1)
    const full = rows.length > limit - count
    if (full) rows.pop()
    count += rows.length
    if (!dryRun) rows.forEach(remove)
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call goes on here instead of walking again over what is already bare.
      if (!dryRun) places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) places.delete(place)
  return { count, more: false }
}

/** Where the pass over a source has got to. Forgotten when the pass ends, and by a restart: then it starts over. */
const passes = new WeakMap<Connection, Map<string, number>>()

function placesOf(connection: Connection): Map<string, number> {
  let places = passes.get(connection)
  if (places === undefined) {
    places = new Map()
    passes.set(connection, places)
  }
  return places
}
