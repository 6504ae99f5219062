/**
 * Places: attempts that may run at the same time. They are divided among the handlers: one that hangs cannot hold them all.
 * A place is
 *
 *   free   no attempt has it;
 *   held   an attempt has it;
 *   lent   its attempt runs for more than a second, and its handler holds more than its quota. It stays held for its own
 *          handler, and is free for handlers that hold less than their quota.
 *
 * The quota is an equal part of the places for each handler that has events here. A handler that is alone may hold all
 * places. Handlers below their quota go first. With one place nothing is lent.
 */
import type { ClaimedEvent } from '../model.js'
import type { PlacesTaken } from '../store.js'
import type { Registered } from './registry.js'

/** An attempt that runs longer lends its place. */
export const LONG_MS = 1_000
const LAST_WEIGHT = 0.2
/** Batches may have thousands of events. */
const MAX_TOLD = 1_000

/** Null holds the places of events without a handler. */
export type Holder<Tx> = Registered<Tx> | null

export interface Place<Tx> {
  readonly holder: Holder<Tx>
  readonly claimed: readonly ClaimedEvent[]
  readonly startedAt: number
}

export class Places<Tx> {
  /** Attempts that have a place. More than `size` when places are lent, or used by `runNow`. */
  active = 0
  readonly size: number
  /** Oldest attempt first. */
  readonly #held = new Map<Holder<Tx>, Set<Place<Tx>>>()

  constructor(size: number) {
    this.size = size
  }

  /** Places for a handler that holds none. Negative when `runNow` uses more places than there are. */
  get free(): number {
    return this.size - this.#countedWith(this.#quotaOf(this.#held.size + 1))
  }

  /** For other processes and operators. */
  get taken(): PlacesTaken {
    const taken = [...this.#held].flatMap(([holder, { size }]) =>
      holder
        ? [
            {
              source: holder.source,
              pattern: holder.pattern,
              count: size,
              limit: holder.options.limit?.concurrency ?? null,
            },
          ]
        : [],
    )
    const running = [...this.#held.values()].flatMap((held) =>
      [...held].flatMap(({ claimed }) => claimed.map(({ lease }) => lease.seq)),
    )
    return { size: this.size, taken, running: running.length > MAX_TOLD ? null : running }
  }

  heldBy(holder: Holder<Tx>): number {
    return this.#held.get(holder)?.size ?? 0
  }

  isLong(holder: Holder<Tx>): boolean {
    const [oldest] = this.#held.get(holder) ?? []
    return oldest !== undefined && isLong(oldest, performance.now())
  }

  quota(waiting: Iterable<Holder<Tx>>): number {
    let handlers = this.#held.size
    for (const holder of waiting) if (!this.#held.has(holder)) handlers++
    return this.#quotaOf(handlers)
  }

  mayStart(holder: Holder<Tx>, quota: number): boolean {
    if (this.active < this.size) return true
    return this.heldBy(holder) < quota && this.#countedWith(quota) < this.size
  }

  take(holder: Holder<Tx>, claimed: readonly ClaimedEvent[]): Place<Tx> {
    const place = { holder, claimed, startedAt: performance.now() }
    const held = this.#held.get(holder) ?? new Set()
    this.#held.set(holder, held.add(place))
    this.active++
    if (holder) {
      holder.active++
      holder.changedAt = place.startedAt
    }
    return place
  }

  /** False when it was left before. */
  leave(place: Place<Tx>): boolean {
    const { holder, claimed, startedAt } = place
    const held = this.#held.get(holder)
    if (!held?.delete(place)) return false
    this.active--
    if (held.size === 0) this.#held.delete(holder)
    if (!holder) return true
    holder.active--
    holder.changedAt = performance.now()
    const ms = (holder.changedAt - startedAt) / claimed.length
    holder.meanMs = holder.meanMs === null ? ms : holder.meanMs * (1 - LAST_WEIGHT) + ms * LAST_WEIGHT
    return true
  }

  #quotaOf(handlers: number): number {
    return Math.max(1, Math.floor(this.size / Math.max(1, handlers)))
  }

  #countedWith(quota: number): number {
    if (this.active < this.size) return this.active
    const now = performance.now()
    let counted = this.active
    for (const held of this.#held.values()) {
      let lent = 0
      for (const place of held) {
        if (lent >= held.size - quota || !isLong(place, now)) break
        lent++
      }
      counted -= lent
    }
    return counted
  }
}

function isLong({ startedAt }: { readonly startedAt: number }, now: number): boolean {
  return now - startedAt > LONG_MS
}
