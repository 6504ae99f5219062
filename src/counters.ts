/**
 * What this process has seen since it started, by source. `/metrics`, alerts and tests read it. Counting is a number
 * plus one: nothing here is about one delivery, and no name from outside makes a counter.
 */
import { codeOf, type ErrorCode } from './errors.js'
import { createHistogram, type Histogram, secondBounds, sizeBounds } from './histogram.js'

/**
 * How an attempt ended, as this process knows it. `lost`: its lease was gone and nothing was written. `handed_back`: the
 * process had to stop. `postponed`: the handler asked to be called later. The last two do not count as attempts.
 */
export const attemptEnds = ['succeeded', 'ignored', 'failed', 'lost', 'handed_back', 'postponed'] as const
export type AttemptEnd = (typeof attemptEnds)[number]

export interface SourceCounters {
  received: number
  recorded: number
  duplicates: number
  conflicts: number
  /** Known signed content under a new id that was withheld or rejected. */
  replayed: number
  /** Known signed content under a new id that is handled, and flagged. */
  flagged: number
  /** Deliveries of events that retention has removed, known by their tombstones. */
  retired: number
  /** Events kept under an id of their own, because other signed content had taken theirs. */
  contested: number
  handshakes: number
  /** Deliveries that went to the spool; what they hold is counted as recorded or duplicate when it is drained. */
  spooled: number
  /** By reason: a reject reason of the provider contract, a refusal at the door, or an error code. */
  readonly rejected: Record<string, number>
  /** From `receive` to an answer below 400, handshakes left out. */
  readonly ackSeconds: Histogram
  readonly attempts: Record<AttemptEnd, number>
  /** Events that were left without a next attempt. */
  deadLetters: number
  /** With those of events that were claimed and not begun. */
  leasesLost: number
  readonly handlerSeconds: Histogram
}

export interface Counters {
  of(source: string): SourceCounters
  readonly bySource: ReadonlyMap<string, Readonly<SourceCounters>>
  /** Commits of the log made by intake, and the deliveries in them. */
  commits: number
  committed: number
  readonly commitSeconds: Histogram
  readonly commitSizes: Histogram
  /** What the store threw at intake and at processing, by code. */
  readonly storeErrors: Record<string, number>
  /** Set by what keeps deliveries while the store is away: how many it holds now. */
  spoolDepth: (() => number) | null
  readonly retention: RetentionCounters
  /** Set by what remembers keys before the store is asked. */
  seen: { readonly hits: number; readonly misses: number; readonly errors: number } | null
}

export interface RetentionCounters {
  /** Scheduled runs of this process that ended well, and those that did not. */
  runs: number
  failures: number
  payloads: number
  events: number
  attempts: number
  audits: number
  /** How often fewer than two partitions were left ahead. */
  alarms: number
  /** As last seen; null where the store has none, or before the first run. */
  partitionsAhead: number | null
  removed(counts: Pick<RetentionCounters, 'payloads' | 'events' | 'attempts' | 'audits'>): void
}

/** Deliveries for a source that does not exist are counted together: a name from outside must not make a counter. */
export const UNKNOWN_SOURCE = '(unknown)'

export function createCounters(): Counters {
  const bySource = new Map<string, SourceCounters>()
  return {
    bySource,
    commits: 0,
    committed: 0,
    commitSeconds: createHistogram(secondBounds),
    commitSizes: createHistogram(sizeBounds),
    storeErrors: Object.create(null) as Record<string, number>,
    spoolDepth: null,
    retention: createRetentionCounters(),
    seen: null,
    of(source) {
      let counters = bySource.get(source)
      if (!counters) {
        counters = createSourceCounters()
        bySource.set(source, counters)
      }
      return counters
    },
  }
}

function createRetentionCounters(): RetentionCounters {
  const counters: RetentionCounters = {
    runs: 0,
    failures: 0,
    payloads: 0,
    events: 0,
    attempts: 0,
    audits: 0,
    alarms: 0,
    partitionsAhead: null,
    removed(counts) {
      for (const kind of ['payloads', 'events', 'attempts', 'audits'] as const) counters[kind] += counts[kind]
    },
  }
  return counters
}

function createSourceCounters(): SourceCounters {
  return {
    received: 0,
    recorded: 0,
    duplicates: 0,
    conflicts: 0,
    replayed: 0,
    flagged: 0,
    contested: 0,
    retired: 0,
    handshakes: 0,
    spooled: 0,
    rejected: Object.create(null) as Record<string, number>,
    ackSeconds: createHistogram(secondBounds),
    attempts: { succeeded: 0, ignored: 0, failed: 0, lost: 0, handed_back: 0, postponed: 0 },
    deadLetters: 0,
    leasesLost: 0,
    handlerSeconds: createHistogram(secondBounds),
  }
}

export function countRejected(counters: SourceCounters, reason: string): void {
  counters.rejected[reason] = (counters.rejected[reason] ?? 0) + 1
}

/** Counts an error of the store. Returns its code, for the log. */
export function countStoreError(counters: Counters, error: unknown): ErrorCode {
  const code = codeOf(error)
  counters.storeErrors[code] = (counters.storeErrors[code] ?? 0) + 1
  return code
}

export function countAttempt(counters: Counters, source: string, end: AttemptResult, seconds: number): void {
  const own = counters.of(source)
  own.attempts[end.kind]++
  own.handlerSeconds.observe(seconds)
  if (end.kind === 'lost') own.leasesLost++
  if (end.kind === 'failed' && end.retryInMs === null) own.deadLetters++
}

type AttemptResult =
  | { readonly kind: Exclude<AttemptEnd, 'failed'> }
  | { readonly kind: 'failed'; readonly retryInMs: number | null }
