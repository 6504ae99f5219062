/**
 * Counters of this process since it started, by source. `/metrics`, alerts and tests read them. Counting adds to a
 * number: it stores nothing about a single delivery, and no name from outside creates a counter.
 */
import { codeOf, type ErrorCode } from './errors.js'

/**
 * How an attempt ended. `lost`: its lease had expired, and nothing was written. `handed_back`: the process stopped.
 * `postponed`: the handler asked to be called later. The last two do not use up an attempt.
 */
export const attemptEnds = ['succeeded', 'ignored', 'failed', 'lost', 'handed_back', 'postponed'] as const
export type AttemptEnd = (typeof attemptEnds)[number]

export interface SourceCounters {
  received: number
  recorded: number
  duplicates: number
  conflicts: number
  /** Events with known signed content under a new id that were put on the review list or rejected. */
  replayed: number
  /** Events with known signed content under a new id that are handled and flagged. */
  flagged: number
  /** Events put on the review list: no process handles their type, or `contentGuard: 'review'` withholds them. */
  reviewed: number
  handshakes: number
  /** Spooled deliveries. Their events are counted as recorded or duplicate when the spool is drained. */
  spooled: number
  /** By reason: a reject reason of a provider, an early refusal, or an error code. */
  readonly rejected: Record<string, number>
  /** From arrival to an answer below 400, without handshakes. */
  readonly ackSeconds: Histogram
  readonly attempts: Record<AttemptEnd, number>
  /** Events that became dead letters. */
  deadLetters: number
  /** Including leases of events that were claimed and not started. */
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
  /** Errors of the store in intake and processing, by code. */
  readonly storeErrors: Record<string, number>
  /** Deliveries in the spool; null without a spool. */
  spool: (() => { readonly depth: number; readonly setAside: number }) | null
  readonly retention: RetentionCounters
  /** The counts of the cache; null without `seen`. */
  seen: { readonly hits: number; readonly misses: number; readonly errors: number } | null
}

export interface RetentionCounters {
  /** Scheduled runs of this process that succeeded, and those that failed. */
  runs: number
  failures: number
  payloads: number
  events: number
  attempts: number
  audits: number
  /** Runs that found fewer than two partitions ahead. */
  alarms: number
  /** As the last run found it; null when the store has no partitions, and before the first run. */
  partitionsAhead: number | null
  removed(counts: Pick<RetentionCounters, 'payloads' | 'events' | 'attempts' | 'audits'>): void
}

/** Deliveries for unknown sources share this counter: a name from outside must not create one. */
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
    spool: null,
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
    reviewed: 0,
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

/** What a handler did in this process. */
export interface HandlerCounters {
  readonly attempts: Record<AttemptEnd, number>
  /** Failed attempts after which another one follows. */
  retries: number
  deadLetters: number
  readonly seconds: Histogram
}

export function createHandlerCounters(): HandlerCounters {
  return {
    attempts: { succeeded: 0, ignored: 0, failed: 0, lost: 0, handed_back: 0, postponed: 0 },
    retries: 0,
    deadLetters: 0,
    seconds: createHistogram(secondBounds),
  }
}

export function countHandled(own: HandlerCounters, end: AttemptResult, seconds: number): void {
  own.attempts[end.kind]++
  own.seconds.observe(seconds)
  if (end.kind !== 'failed') return
  if (end.retryInMs === null) own.deadLetters++
  else own.retries++
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

/** Counts of a measure by fixed bounds. `observe` allocates nothing. */
export interface Histogram {
  readonly bounds: readonly number[]
  /** One more than `bounds`: the last counts values above all bounds. Not cumulative. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
  observe(value: number): void
}

/** Seconds: from a commit on a fast disk to the time after which senders give up. */
const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]
/** Deliveries in one commit. */
const sizeBounds: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256]

export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  const histogram = {
    bounds,
    counts,
    sum: 0,
    count: 0,
    observe(value: number) {
      let i = 0
      while (i < bounds.length && value > bounds[i]!) i++
      counts[i]!++
      histogram.sum += value
      histogram.count++
    },
  }
  return histogram
}
