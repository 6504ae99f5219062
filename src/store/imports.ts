/** The `imports` capability: events that another program has handled become known to the log. Needed by `hookonce import`. */
import type { EventKey, Reference } from '../model.js'

export interface Imports {
  /**
   * Adds finished events, at most `limits.recordBatch`, in one commit. False = the log has the event already, or it is twice
   * in this call. It gets no content hash: a later delivery of its id is a duplicate whatever its bytes are.
   */
  add(events: readonly ImportedEvent[]): Promise<boolean[]>
  /** A dry run asks whether the log has each event, at most `limits.recordBatch`. */
  known(keys: readonly EventKey[]): Promise<boolean[]>
}

export interface ImportedEvent {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly reference: string | null
  readonly references?: readonly Reference[]
  readonly receivedAt: number
  /** Null = unknown: `receivedAt` stands in. */
  readonly processedAt: number | null
  readonly state: ImportedState
  readonly reason: string | null
  /** Null when the other program has none. A failed event needs one: an operator may retry it. */
  readonly payload: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array } | null
}

/** A failed event is a dead letter: it is handled again only when an operator retries it. */
export const importedStates = ['succeeded', 'ignored', 'failed'] as const
export type ImportedState = (typeof importedStates)[number]
