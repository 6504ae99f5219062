/**
 * The buffer: claimed events that wait for a place, in a queue for each handler. When a handler has a limit or hangs, its
 * queue is bounded, to leave room for events of other handlers:
 *
 *   aside     it has enough events. It does not count as part of the buffer, so events of other handlers are still claimed;
 *   surplus   it has more events than may wait. They are released.
 */
import type { ClaimedEvent } from '../model.js'
import { AHEAD_MS, BufferSize } from './buffer-size.js'
import type { Limits, Released } from './limits.js'
import type { Paused } from './paused.js'
import type { Holder, Places } from './places.js'
import { groupSize, type Registered, type Registry } from './registry.js'

const RELEASE_DELAY_MS = 1_000
/** While it is not known how long the handler takes. */
const FIRST_RELEASE_DELAY_MS = 100

export class EventBuffer<Tx> {
  readonly measured: BufferSize
  readonly #registry: Registry<Tx>
  readonly #places: Places<Tx>
  readonly #limits: Limits<Tx>
  /** The handler that was served least recently first. A queue is never empty. */
  readonly #queues = new Map<Holder<Tx>, ClaimedEvent[]>()
  /** Events of a batch that failed. */
  readonly #alone = new WeakSet<ClaimedEvent>()
  /** No event of the buffer is held back by these pauses. Null: one was added since. */
  #checkedFor: Paused['list'] | null = null

  constructor(registry: Registry<Tx>, places: Places<Tx>, limits: Limits<Tx>, leaseMs: number) {
    this.#registry = registry
    this.#places = places
    this.#limits = limits
    this.measured = new BufferSize(leaseMs)
  }

  get size(): number {
    return this.measured.now(2 * Math.max(this.#places.size, this.#registry.largestGroup))
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  /** Events in the buffer, without the queues that are set aside. */
  get waiting(): number {
    let events = 0
    for (const [holder, queue] of this.#queues) if (!this.isAside(holder)) events += queue.length
    return events
  }

  isAside(holder: Holder<Tx>): boolean {
    const most = this.#mostWaiting(holder)
    if (most === Number.POSITIVE_INFINITY) return false
    // An event that waits is enough for a handler that hangs: several of them would fill the buffer together.
    const enough = this.#places.isLong(holder) ? 1 : most
    return this.of(holder).length >= Math.min(enough, this.size)
  }

  holderOf({ source, type }: ClaimedEvent): Holder<Tx> {
    return this.#registry.resolve(source, type)
  }

  holders(): IterableIterator<Holder<Tx>> {
    return this.#queues.keys()
  }

  queues(): IterableIterator<[Holder<Tx>, readonly ClaimedEvent[]]> {
    return this.#queues.entries()
  }

  of(holder: Holder<Tx>): readonly ClaimedEvent[] {
    return this.#queues.get(holder) ?? []
  }

  add(events: readonly ClaimedEvent[]): void {
    this.#noteAdded(events)
    for (const event of events) {
      const holder = this.holderOf(event)
      const queue = this.#queues.get(holder)
      if (queue) queue.push(event)
      else this.#queues.set(holder, [event])
    }
  }

  /** These events are the next of their handlers. */
  putBack(events: readonly ClaimedEvent[]): void {
    this.#noteAdded(events)
    for (const event of events.toReversed()) {
      const holder = this.holderOf(event)
      this.#set(holder, [event, ...this.of(holder)])
    }
  }

  runAlone(event: ClaimedEvent): void {
    this.#alone.add(event)
  }

  /** False for an event that has failed before, alone or in a batch: it would probably fail its neighbours. */
  mayShare(event: ClaimedEvent): boolean {
    return event.tries === 1 && !this.#alone.has(event)
  }

  /**
   * Takes the event at a position, and up to `most` in all that may share with it. The handler goes to the end of the turns.
   */
  take(holder: Holder<Tx>, position: number, most: number): ClaimedEvent[] {
    const queue = this.#queues.get(holder)!
    const taken = queue.splice(position, 1)
    for (let i = 0; i < queue.length && taken.length < most; ) {
      if (this.mayShare(queue[i]!)) taken.push(...queue.splice(i, 1))
      else i++
    }
    this.#queues.delete(holder)
    this.#set(holder, queue)
    return taken
  }

  remove(claimed: ClaimedEvent): void {
    for (const holder of [...this.#queues.keys()]) this.#remove(holder, (event) => event === claimed)
  }

  removePaused(): ClaimedEvent[] {
    const { paused } = this.#registry
    // Called for each event: the queues are only read when one of their events may have become paused.
    if (paused.list.length === 0 || this.#checkedFor === paused.list) return []
    this.#checkedFor = paused.list
    return [...this.#queues.keys()].flatMap((holder) =>
      this.#remove(holder, (event) => paused.of(event) !== undefined),
    )
  }

  /** A handler may have been added since the event was put into the buffer. */
  giveToNewHandlers(): void {
    const unhandled = this.of(null)
    if (!unhandled.some((event) => this.holderOf(event))) return
    this.#queues.delete(null)
    this.add(unhandled)
  }

  /** `isDrain`: a released event is due later, and the drain would end without it, so only those that wait long are. */
  removeSurplus(isDrain: boolean): Released[] {
    const removed: Released[] = []
    for (const holder of [...this.#queues.keys()]) {
      if (holder?.options.limit) {
        const released = this.#limits.surplus(holder, this.of(holder), isDrain)
        if (released.length === 0) continue
        const surplus = new Set(released.flatMap(({ events }) => events))
        this.#remove(holder, (event) => surplus.has(event))
        removed.push(...released)
        continue
      }
      if (isDrain) continue
      const most = this.#mostWaiting(holder)
      if (this.of(holder).length <= most) continue
      const delayMs = holder?.meanMs == null ? FIRST_RELEASE_DELAY_MS : RELEASE_DELAY_MS
      removed.push({ events: this.#remove(holder, (_, position) => position >= most), delayMs })
    }
    return removed
  }

  clear(): ClaimedEvent[] {
    const events = [...this.#queues.values()].flat()
    this.#queues.clear()
    return events
  }

  /** They were claimed, or recorded, before they were paused. */
  #noteAdded(events: readonly ClaimedEvent[]): void {
    if (events.some((event) => this.#registry.isPaused(event))) this.#checkedFor = null
  }

  #remove(
    holder: Holder<Tx>,
    isUnwanted: (event: ClaimedEvent, position: number) => boolean,
  ): ClaimedEvent[] {
    const removed: ClaimedEvent[] = []
    const left = this.of(holder).filter((event, position) => {
      const isRemoved = isUnwanted(event, position)
      if (isRemoved) removed.push(event)
      return !isRemoved
    })
    this.#set(holder, left)
    return removed
  }

  #set(holder: Holder<Tx>, queue: ClaimedEvent[]): void {
    if (queue.length === 0) this.#queues.delete(holder)
    else this.#queues.set(holder, queue)
  }

  /** Bounded when the handler has a limit, or hangs. */
  #mostWaiting(holder: Holder<Tx>): number {
    if (!holder) return Number.POSITIVE_INFINITY
    if (holder.options.limit) return this.#limits.mostWaiting(holder, this.size)
    const places = this.#places
    if (places.active < places.size || !places.isLong(holder)) return Number.POSITIVE_INFINITY
    return Math.max(2 * places.size, maxAhead(holder, places.size))
  }
}

/** A handler of groups keeps at least its next two groups, because a claim returns more than one group. */
function maxAhead<Tx>(handler: Registered<Tx>, handlerConcurrency: number): number {
  const size = groupSize(handler)
  // A handler that was quick may hang: then the time since its last change counts.
  const ms = Math.max(handler.meanMs ?? AHEAD_MS, performance.now() - handler.changedAt, 0.1)
  return handlerConcurrency * Math.max(size > 1 ? 2 * size : 1, Math.floor(AHEAD_MS / ms))
}
