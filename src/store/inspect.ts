/**
 * The `inspect` capability: details that people read. Needed by `inbox.events.payload`, `inbox.events.attempts` and their
 * routes in the admin API, `hookonce events show`, `hookonce doctor` and `hookonce migrate status`.
 */
import type { EventKey, EventRecord, Outcome } from '../model.js'
import type { Standing } from './waiting.js'
import type { RowName, RowWriter } from './why.js'

export interface Inspect {
  /** Null when there is no such event or its payload was removed. */
  payload(key: EventKey): Promise<Payload | null>
  /** Oldest first. */
  attempts(key: EventKey): Promise<Attempt[]>
  /** Effects of `ctx.once`, oldest first. */
  effects(key: EventKey): Promise<Effect[]>
  /** `lastConflict` of the event, or the content with this hash; null when there is none, or its bytes were removed. */
  conflict(key: EventKey, hash?: string): Promise<Conflict | null>
  /** By source name. Reads at most `limit` rows of each source. */
  openConflicts(limit: number): Promise<OpenConflicts[]>
  /** Groups the newest `limit` dead letters by source, type and error. */
  deadLetters(options: DeadLetterOptions): Promise<DeadLetters>
  leases(): Promise<WorkerLeases[]>
  /** At most `limits.listPage`. An event that is finished has none. */
  standings(seqs: readonly number[]): Promise<Standing[]>
  /** Unfinished events, the oldest first. */
  oldest(limit: number): Promise<EventRecord[]>
  types(limit: number): Promise<SourceTypes[]>
  idsFrom(prefix: string, limit: number): Promise<EventKey[]>
  /** Which attempt last wrote a row of the user's; null when there is no such row. Only on PostgreSQL. */
  writerOf?(row: RowName): Promise<RowWriter | null>
  /** Works on a log without schema. Reports faults as findings; throws only when the store is unreachable. */
  report(): Promise<Inspection>
}

export interface Payload {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly part: number
  readonly contentHash: string | null
  readonly receivedAt: number
}

/** `contentHash` is that of the present content of the event, `hash` that of this one. */
export interface Conflict extends Payload {
  readonly hash: string
  readonly at: number
}

export interface OpenConflicts {
  readonly source: string
  /** Events, not contents. */
  readonly count: number
  readonly oldestAt: number
  /** True when there may be more than were read. */
  readonly cut: boolean
}

/** Its result is left out: it may quote a payload. */
export interface Effect {
  readonly name: string
  readonly startedAt: number
  /** Null when its end was not reported. */
  readonly finishedAt: number | null
}

export interface DeadLetterOptions {
  readonly source?: string
  readonly limit: number
}

export interface DeadLetters {
  readonly groups: readonly DeadLetterGroup[]
  readonly scanned: number
  readonly cut: boolean
}

export interface DeadLetterGroup {
  readonly source: string
  readonly error: string | null
  readonly type: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly eventId: string
}

export interface WorkerLeases {
  readonly worker: string
  readonly leases: number
  readonly expired: number
  readonly oldestClaimedAt: number | null
  readonly expiresAt: number | null
}

export interface SourceTypes {
  readonly source: string
  readonly types: readonly string[]
  readonly more: boolean
}

/** `lost`: the lease expired without a report from the worker (crash, freeze). */
export type AttemptOutcome = Outcome['kind'] | 'lost'

export interface Attempt {
  readonly attempt: number
  readonly run: number
  readonly worker: string
  readonly startedAt: number
  readonly finishedAt: number
  readonly outcome: AttemptOutcome
  /** Redacted error or reason; null for `succeeded` and `lost`. */
  readonly detail: string | null
  /** The line of code that threw, redacted; null where it is unknown. */
  readonly place: string | null
}

export interface Inspection {
  /**
   * `found`: the schema of the log. `known`: the newest schema this hookonce knows. `needed`: present when `found` is
   * newer, the oldest schema a hookonce must know to work with this log.
   */
  readonly schema: { readonly found: number; readonly known: number; readonly needed?: number }
  /** Compare the store's clock with your own. */
  readonly now: number
  readonly settings: readonly Finding[]
  /** Checked on a bounded number of rows; `ok` is false where a row breaks the rule. */
  readonly invariants: readonly Finding[]
  /** Transactions of handlers that can be open at once; null where one writer serves all. */
  readonly transactions: number | null
  /** Whole payload partitions ahead of now; null where the store has none. */
  readonly partitionsAhead: number | null
}

export interface Finding {
  readonly name: string
  readonly value: string
  readonly ok: boolean
  readonly fix: string | null
}
