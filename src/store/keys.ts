/**
 * The `keys` capability: effects of `ctx.once`, keys of `inbox.once`, and watermarks of the stale guard. Needed by
 * `ctx.once`, `inbox.once`, the handler option `stale`, `seen`, and retention (one process at a time).
 */
import type { Lease } from '../model.js'

export interface Keys {
  effect(step: EffectStep): Promise<EffectState>
  key(step: KeyStep): Promise<KeyState>
  /** Null when it was never set. */
  watermark(source: string, key: string): Promise<number | null>
  /**
   * Names the database that holds the log, and its last start. The name is another after a restore from a backup: entries of
   * `seen` for events that the restored log lacks must not apply to it.
   */
  place?(): Promise<string>
}

/** They run inside a handler's transaction and are undone when it rolls back. */
export interface TransactionKeys {
  effect(step: EffectStep): Promise<EffectState>
  /** Raises a watermark. False = it is higher already, so the event is stale. */
  advance(watermark: Watermark): Promise<boolean>
}

export type EffectStep =
  | { readonly step: 'start'; readonly lease: Lease; readonly name: string }
  | {
      readonly step: 'finish'
      readonly lease: Lease
      readonly name: string
      readonly result: string
      /**
       * The attempt is over. Written only when the effect has been started and has no result, and no lease on its event is
       * live: a worker that has one may be repeating the effect.
       */
      readonly late?: true
    }
  /** The effect certainly did not happen. Returns `new`. */
  | { readonly step: 'drop'; readonly lease: Lease; readonly name: string }

/**
 * `new`: never started. `unknown`: an earlier attempt started it and did not report the end. `finished`: with its
 * result. `fenced`: the lease has expired, or a late result came too late; nothing was written.
 */
export type EffectState =
  | { readonly state: 'new' | 'fenced' }
  /** `ageMs`: since it was first started, by the store's clock. */
  | { readonly state: 'unknown'; readonly ageMs: number }
  | { readonly state: 'finished'; readonly result: string }

/** An idempotency key belongs to no event: `inbox.once(key, fn)`. */
export type KeyStep =
  | { readonly step: 'take'; readonly key: string; readonly leaseMs: number }
  | { readonly step: 'extend'; readonly key: string; readonly token: string; readonly leaseMs: number }
  /** `ttlMs` null: forever. */
  | {
      readonly step: 'finish'
      readonly key: string
      readonly token: string
      readonly result: string
      readonly ttlMs: number | null
    }
  | { readonly step: 'drop'; readonly key: string; readonly token: string }

/**
 * `taken`: the caller has the key. `busy`: another caller has it. `finished`: with its result. `fenced`: the token has
 * expired, and nothing was written.
 */
export type KeyState =
  | { readonly state: 'taken'; readonly token: string }
  | { readonly state: 'finished'; readonly result: string }
  | { readonly state: 'busy' | 'fenced' | 'ok' }

/** A handler applies no older version of a subject than this. `key` names the handler and the subject (a reference). */
export interface Watermark {
  readonly source: string
  readonly key: string
  readonly value: number
}
