/**
 * The contract of `seen`: a memory of keys that are in the log, asked before the log is. It is written only after a
 * commit, so a hit proves a committed row; a miss, an error, an eviction or a restart only costs a look at the log. It
 * may forget anything at any time. It is never the truth.
 */
import type { EventKey } from '../model.js'

/** `log` names the log, so that a memory shared by two logs, or left over from another one, says nothing false. */
export interface SeenKey extends EventKey {
  readonly log: string
}

export interface SeenEntry {
  readonly seq: number
  /** The content hash the event was recorded with. */
  readonly hash: Uint8Array
  /** `succeeded` and `ignored` have finished; `pending` stands for everything else. */
  readonly state: 'pending' | 'succeeded' | 'ignored'
  /** When the log last said so, milliseconds. */
  readonly confirmedAt: number
  /** Checked by whoever reads it: a memory that keeps things too long changes nothing. */
  readonly expiresAt: number
}

export interface Seen {
  /** For logs: `lru`, `redis`. */
  readonly name: string
  /** An entry or null for each key, in order. May throw; the log is asked then. */
  get(keys: readonly SeenKey[]): Promise<(SeenEntry | null)[]>
  /** Null = forget it. May throw, and may lose it. */
  put(entries: readonly { readonly key: SeenKey; readonly entry: SeenEntry | null }[]): Promise<void>
}
