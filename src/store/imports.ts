/**
 * The `imports` capability: events that another program has received and handled become known to the log, with their own
 * times. Needed by `hookonce import`.
 */
import type { EventKey } from '../model.js'

export interface Imports {
  /**
   * Adds finished events, at most `limits.recordBatch` per call, in one commit. True = added. False = the log has the event
   * already, or it is twice in this call; that event is not changed. An event has no content hash, so a later delivery of
   * the same id is a duplicate whatever its bytes are.
   */
  add(events: readonly ImportedEvent[]): Promise<boolean[]>
  /** Which of these events the log has, at most `limits.recordBatch` per call. For a dry run. */
  known(keys: readonly EventKey[]): Promise<boolean[]>
}

export interface ImportedEvent {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** Null = unknown: it is then the time it was received. */
  readonly processedAt: number | null
  readonly state: ImportedState
  /** Why it was ignored or failed; null for `succeeded`. */
  readonly reason: string | null
  /** Null when the other program did not keep it. A failed event needs one: an operator may retry it. */
  readonly payload: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array } | null
}

/** A failed event is a dead letter: it is handled again only when an operator retries it. */
export const importedStates = ['succeeded', 'ignored', 'failed'] as const
export type ImportedState = (typeof importedStates)[number]
