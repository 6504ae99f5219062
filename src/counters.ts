/**
 * Counters of this process since it started, by source. `/metrics`, alerts and tests read them. No name from outside
 * creates a counter.
 */
import { codeOf, type ErrorCode } from './errors.js'

/**
 * How an attempt ended. `lost`: its lease had expired, and nothing was written. `handed_back`: the process stopped.
 * `postponed`: the handler asked to be called later. The last two do not use up an attempt.
 */
export const attemptEnds = ['succeeded', 'ignored', 'failed', 'lost', 'handed_back', 'postponed'] as const
export type AttemptEnd = (typeof attemptEnds)[number]

/** From a commit on a fast disk to the time after which senders give up. */
const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]
const sizeBounds: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** `observe` allocates nothing. */
export class Histogram {
  readonly bounds: readonly number[]
  /** Not cumulative. The last counts values above all bounds. */
  readonly counts: number[]
  sum = 0
  count = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    let i = 0
    while (i < this.bounds.length && value > this.bounds[i]!) i++
    this.counts[i]!++
    this.sum += value
    this.count++
  }
}

export class AttemptCounters {
  readonly attempts: Record<AttemptEnd, number> = {
    succeeded: 0,
    ignored: 0,
    failed: 0,
    lost: 0,
    handed_back: 0,
    postponed: 0,
  }
  retries = 0
  deadLetters = 0
  readonly handlerSeconds = new Histogram(secondBounds)

  ended(end: AttemptResult, seconds: number): void {
    this.attempts[end.kind]++
    this.handlerSeconds.observe(seconds)
    if (end.kind !== 'failed') return
    if (end.retryInMs === null) this.deadLetters++
    else this.retries++
  }
}

type AttemptResult =
  | { readonly kind: Exclude<AttemptEnd, 'failed'> }
  | { readonly kind: 'failed'; readonly retryInMs: number | null }

export class SourceCounters extends AttemptCounters {
  received = 0
  recorded = 0
  duplicates = 0
  conflicts = 0
  /** Events with known signed content under a new id that were put on the review list or rejected. */
  replayed = 0
  /** Events with known signed content under a new id that are handled and flagged. */
  flagged = 0
  /** Events put on the review list: no process handles their type, or `contentGuard: 'review'` withholds them. */
  reviewed = 0
  /** Events with more references than the log keeps. */
  referencesCut = 0
  handshakes = 0
  /** Spooled deliveries. Their events are counted as recorded or duplicate when the spool is drained. */
  spooled = 0
  /** The reason is a reject reason of a provider, an early refusal, or an error code. */
  readonly rejected: Record<string, number> = Object.create(null)
  /** Time from `inbox.receive`, after the body was read, to an answer below 400. Without handshakes. */
  readonly ackSeconds = new Histogram(secondBounds)
  /** Including leases of events that were claimed and not started. */
  leasesLost = 0

  override ended(end: AttemptResult, seconds: number): void {
    super.ended(end, seconds)
    if (end.kind === 'lost') this.leasesLost++
  }
}

interface RemovedRows {
  readonly payloads: number
  readonly events: number
  readonly attempts: number
  readonly audits: number
}

export class RetentionCounters {
  /** Scheduled runs of this process that succeeded. */
  runs = 0
  failures = 0
  payloads = 0
  events = 0
  attempts = 0
  audits = 0
  /** Runs that found fewer than two partitions ahead. */
  alarms = 0
  /** Null before the first run, and when the store has no partitions. */
  partitionsAhead: number | null = null

  removed(rows: RemovedRows): void {
    this.payloads += rows.payloads
    this.events += rows.events
    this.attempts += rows.attempts
    this.audits += rows.audits
  }
}

/** Deliveries for unknown sources share this counter. */
export const UNKNOWN_SOURCE = '(unknown)'

export class Counters {
  readonly bySource = new Map<string, SourceCounters>()
  commits = 0
  committed = 0
  readonly commitSeconds = new Histogram(secondBounds)
  readonly commitSizes = new Histogram(sizeBounds)
  readonly storeErrors: Record<string, number> = Object.create(null)
  /** Null without a spool. */
  spool: (() => { readonly depth: number; readonly setAside: number }) | null = null
  readonly retention = new RetentionCounters()
  seen: { readonly hits: number; readonly misses: number; readonly errors: number } | null = null

  of(source: string): SourceCounters {
    let own = this.bySource.get(source)
    if (!own) {
      own = new SourceCounters()
      this.bySource.set(source, own)
    }
    return own
  }
}

export function countRejected({ rejected }: SourceCounters, reason: string): void {
  rejected[reason] = (rejected[reason] ?? 0) + 1
}

export function countStoreError({ storeErrors }: Counters, error: unknown): ErrorCode {
  const code = codeOf(error)
  storeErrors[code] = (storeErrors[code] ?? 0) + 1
  return code
}
