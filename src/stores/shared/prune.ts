/**
 * Removes expired rows, never an unfinished event. A call reads a bounded part of the log and says whether to call again:
 * intake waits for one small transaction at a time.
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import { type Steps, step } from './steps.js'

export type Swept = 'payloads' | 'events' | 'attempts'

type Call<T> = T | Promise<T>

export interface PrunedLog<Row> {
  /** The next call continues there. In memory until the pass is complete. */
  readonly places: Map<string, number>
  range(before: number): Call<{ readonly first: number; readonly last: number } | null>
  find(kind: Swept, before: number, from: number, to: number, limit: number): Call<Row[]>
  /** Returns the number removed. Events that were retried since they were found stay. */
  remove(kind: Swept, rows: readonly Row[], before: number): Call<number>
  removeReceipts(before: number): Call<unknown>
  findAudits(before: number, limit: number): Call<number[]>
  removeAudits(ids: readonly number[]): Call<unknown>
  removeConflicts(before: number, limit: number): Call<number>
  removeKeys(limit: number): Call<number>
}

/** One statement reads this many seqs, and one call makes this many statements at most. */
const WINDOW = 10_000
const WINDOWS = 5
/** One transaction removes no more of each kind, whatever the caller's limit. */
const REMOVALS = 10_000

interface Removed {
  readonly count: number
  readonly more: boolean
}

const nothing: Removed = { count: 0, more: false }

export function* prune<Row>(log: PrunedLog<Row>, options: PruneOptions): Steps<PruneResult> {
  const { payloadsBefore, eventsBefore, attemptsBefore, auditsBefore, dryRun } = options
  const most = dryRun ? options.limit : Math.min(options.limit, REMOVALS)
  const payloads = yield* sweep(log, options, 'payloads', payloadsBefore, most)
  const events = yield* sweep(log, options, 'events', eventsBefore, most)
  if (eventsBefore !== undefined && !dryRun && !events.more)
    yield* step(() => log.removeReceipts(eventsBefore))
  const attempts = yield* sweep(log, options, 'attempts', attemptsBefore, most)
  const audits = auditsBefore === undefined ? nothing : yield* pruneAudits(log, auditsBefore, most, dryRun)
  let rest = 0
  if (!dryRun) {
    if (payloadsBefore !== undefined) rest = yield* step(() => log.removeConflicts(payloadsBefore, most))
    rest = Math.max(rest, yield* step(() => log.removeKeys(most)))
  }
  return {
    payloads: payloads.count,
    events: events.count,
    attempts: attempts.count,
    audits: audits.count,
    more: rest >= most || [payloads, events, attempts, audits].some(({ more }) => more),
  }
}

function* sweep<Row>(
  log: PrunedLog<Row>,
  { source, archivedOnly = false, dryRun = false }: PruneOptions,
  kind: Swept,
  before: number | undefined,
  limit: number,
): Steps<Removed> {
  if (before === undefined) return nothing
  const range = yield* step(() => log.range(before))
  if (range === null) return nothing
  const place = `${kind} ${archivedOnly} ${source}`
  const start = dryRun ? range.first : Math.max(range.first, log.places.get(place) ?? 0)
  let found = 0
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = yield* step(() => log.find(kind, before, from, from + WINDOW, limit - found + 1))
    const full = rows.length > limit - found
    if (full) rows.pop()
    found += rows.length
    count += dryRun || rows.length === 0 ? rows.length : yield* step(() => log.remove(kind, rows, before))
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call continues here instead of reading again the windows that have nothing left to remove.
      if (!dryRun) log.places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) log.places.delete(place)
  return { count, more: false }
}

function* pruneAudits<Row>(
  log: PrunedLog<Row>,
  before: number,
  limit: number,
  dryRun = false,
): Steps<Removed> {
  const ids = yield* step(() => log.findAudits(before, limit + 1))
  const old = ids.slice(0, limit)
  if (old.length > 0 && !dryRun) yield* step(() => log.removeAudits(old))
  return { count: old.length, more: ids.length > limit }
}
