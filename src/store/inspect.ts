/**
 * The `inspect` capability: details that people read. Needed by `inbox.events.payload` and `inbox.events.attempts`, the
 * same routes of the admin API, `hookonce events show`, `hookonce doctor` and `hookonce migrate status`.
 */
import type { EventKey, Outcome } from '../model.js'

export interface Inspect {
  /** Null when there is no such event or its payload was removed. */
  payload(key: EventKey): Promise<Payload | null>
  /** Oldest first. */
  attempts(key: EventKey): Promise<Attempt[]>
  /** Works on a log without schema. Reports faults as findings; throws only when the store is unreachable. */
  report(): Promise<Inspection>
}

export interface Payload {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly part: number
  readonly receivedAt: number
}

/** How an attempt ended. `lost`: its lease expired without a report from the worker (crash, freeze). */
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
}

/** The state of a store, for `hookonce doctor` and `/readyz`. */
export interface Inspection {
  /**
   * `found`: the schema of the log. `known`: the newest schema this hookonce knows. `needed`: present when `found` is
   * newer, the oldest schema a hookonce must know to work with this log.
   */
  readonly schema: { readonly found: number; readonly known: number; readonly needed?: number }
  /** The store's clock, milliseconds: compare it with your own. */
  readonly now: number
  /** Settings that decide whether an acknowledged delivery is durable. */
  readonly settings: readonly Finding[]
  /** The consistency of the log, checked on a bounded number of rows; `ok` is false where a row violates it. */
  readonly invariants: readonly Finding[]
  /** Number of whole payload partitions ahead of now; null where the store has none. */
  readonly partitionsAhead: number | null
}

export interface Finding {
  readonly name: string
  readonly value: string
  readonly ok: boolean
  /** The action that corrects it; null when `ok`. */
  readonly fix: string | null
}
