/**
 * Dispatch: claimed events wait in the buffer until a place is free, and then run as attempts. An event goes
 *
 *   claimed -> waiting -> running -> settling -> done
 *                 |  ^       |
 *                 |  '-------'   put back: its transaction took no further event
 *                 '-> released   its handler is paused or has too many events, its lease is lost, or dispatch was stopped
 *
 *   waiting    in the queue of its handler (`queues.ts`);
 *   running    its attempt has a place (`places.ts`);
 *   settling   its handler has returned and left the place to the next event; its outcome is being written.
 *
 * The queue of a handler is
 *
 *   ready      its handler may start an attempt: it does, in turns with the other handlers;
 *   blocked    no place is free for its handler now;
 *   aside      its handler is at its own limit or hangs, and has enough events. The queue does not count as part of the
 *              buffer, so that events of other handlers are still claimed. More events than it may hold are released;
 *   paused     its events are released.
 *
 * Dispatch itself is started, or stopped: then no event of the buffer starts. `runNow` works in both.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent } from '../model.js'
import type { Tracing } from '../tracing.js'
import { type AttemptDeps, attempt } from './attempt.js'
import { attemptBatch, type BatchEnd } from './batch.js'
import { AHEAD_MS, type BufferSize } from './buffer-size.js'
import { type Holder, LONG_MS, type Place, Places } from './places.js'
import { Queues } from './queues.js'
import { groupSize, type Registered } from './registry.js'
import type { Result } from './result.js'
import type { LeavePlace } from './settle.js'

const RELEASE_DELAY_MS = 1_000
/** While it is not known how long the handler takes. */
const FIRST_RELEASE_DELAY_MS = 100
/**
 * Events that are settling, for each place. Many outcomes share a write; after a crash all of these events run again.
 */
const SETTLING_PER_PLACE = 8

export interface DispatchDeps<Tx> extends AttemptDeps<Tx> {
  readonly tracing: Tracing | null
  readonly measured: BufferSize
  onRoom(): void
  onSettled(event: ClaimedEvent, result: Result): void
}

export class Dispatch<Tx> {
  readonly #deps: DispatchDeps<Tx>
  readonly #concurrency: number
  readonly #places: Places<Tx>
  readonly #queues = new Queues<Tx>()
  readonly #whenIdle: (() => void)[] = []
  #isStopped = false
  #settling = 0
  /** Drains that are under way: a released event is due later, and a drain would end without it. */
  #drains = 0
  /** Runs while places may soon be lent. */
  #lending: NodeJS.Timeout | undefined

  constructor(deps: DispatchDeps<Tx>, concurrency: number) {
    this.#deps = deps
    this.#concurrency = concurrency
    this.#places = new Places(concurrency)
  }

  get bufferSize(): number {
    const { measured, registry } = this.#deps
    return measured.now(2 * Math.max(this.#concurrency, registry.largestGroup))
  }

  /** Events in the buffer, without the queues that are set aside. */
  get waiting(): number {
    let events = 0
    for (const holder of this.#queues.holders())
      if (!this.isAside(holder)) events += this.#queues.of(holder).length
    return events
  }

  /** Places for a handler that holds none. Attempts of `runNow` may use more than there are: the number is then negative. */
  get freePlaces(): number {
    return this.#places.free
  }

  isAside(holder: Holder<Tx>): boolean {
    const most = this.#mostWaiting(holder)
    if (most === Number.POSITIVE_INFINITY) return false
    // An event that waits is enough for a handler that hangs: several of them would fill the buffer together.
    const enough = this.#places.isLong(holder) ? 1 : most
    return this.#queues.of(holder).length >= Math.min(enough, this.bufferSize)
  }

  add(claimed: readonly ClaimedEvent[]): void {
    for (const event of claimed) this.#queues.add(this.#holderOf(event), event)
  }

  /** Its lease was lost while it waited. */
  remove(claimed: ClaimedEvent): void {
    for (const holder of [...this.#queues.holders()])
      this.#queues.remove(holder, (event) => event === claimed)
  }

  /** Starts events of the buffer while there are places for them, and releases those that would only take up room. */
  startReady(): void {
    if (this.#isStopped) return
    this.#releasePaused()
    for (let next = this.#nextHolder(); next !== undefined; next = this.#nextHolder()) {
      const events = this.#queues.take(next, this.#maxEventsNow(next))
      // A handler may have been added since the event was put into the buffer.
      const handler = next ?? this.#holderOf(events[0]!)
      this.#run(handler, events).catch(() => {}) // it was logged; the lease expires
    }
    if (this.#drains === 0) this.#releaseSurplus()
    // The places of attempts that have run long enough by then are lent.
    if (this.#queues.size > 0 && this.#places.active >= this.#concurrency)
      this.#lending ??= setTimeout(() => {
        this.#lending = undefined
        this.#placeIsFree()
      }, LONG_MS).unref()
  }

  /** Runs this event now, without the buffer. Rejects when its outcome could not be written. */
  async runNow(claimed: ClaimedEvent): Promise<Result> {
    const [result] = await this.#run(this.#holderOf(claimed), [claimed], true)
    return result!
  }

  /** Until `work` has ended, `startReady` releases no events of busy handlers. */
  async withoutRelease<T>(work: () => Promise<T>): Promise<T> {
    this.#drains++
    try {
      return await work()
    } finally {
      this.#drains--
    }
  }

  start(): void {
    this.#isStopped = false
  }

  /** Starts no further event of the buffer, and releases those that have not begun. */
  stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#lending)
    this.#lending = undefined
    return this.release(this.#queues.clear())
  }

  /** Never rejects: leases that could not be released expire. */
  async release(claimed: readonly ClaimedEvent[], delayMs = 0): Promise<void> {
    if (claimed.length === 0) return
    const released = claimed.map(({ lease }) => lease)
    for (const lease of released) this.#deps.leases.drop(lease)
    await this.#deps.store.release(released, delayMs).catch(() => {})
  }

  /** Resolves when no event is running or settling. */
  idle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  get #isIdle(): boolean {
    return this.#places.active === 0 && this.#settling === 0
  }

  #holderOf({ source, type }: ClaimedEvent): Holder<Tx> {
    return this.#deps.registry.resolve(source, type)
  }

  /** Undefined when no event may start. Handlers below their quota go first. */
  #nextHolder(): Holder<Tx> | undefined {
    const quota = this.#places.quota(this.#queues.holders())
    let next: Holder<Tx> | undefined
    for (const holder of this.#queues.holders()) {
      if (!this.#places.mayStart(holder, quota)) continue
      if (this.#places.heldBy(holder) < quota) return holder
      if (next === undefined) next = holder
    }
    return next
  }

  /** Events share a transaction only when there are more of them than free places: in a group they wait for each other. */
  #maxEventsNow(holder: Holder<Tx>): number {
    const queue = this.#queues.of(holder)
    if (!holder || !this.#queues.mayShare(queue[0]!)) return 1
    const most = groupSize(holder)
    if (most === 1 || holder.handleBatch) return most
    const freePlaces = Math.min(
      this.#concurrency - this.#places.active,
      (holder.options.concurrency ?? this.#concurrency) - holder.active,
    )
    return Math.min(most, Math.ceil(queue.length / Math.max(1, freePlaces)))
  }

  /** Runs an attempt. Rejects when its outcome could not be written. Its place is free again in any case. */
  async #run(handler: Holder<Tx>, events: readonly ClaimedEvent[], inCall = false): Promise<Result[]> {
    const place = this.#places.take(handler, events.length)
    let settling = 0
    const leavePlace = (isVisible: boolean) => {
      if (!isVisible && !this.#mayOverlap(handler)) return
      if (this.#settling >= SETTLING_PER_PLACE * this.#concurrency) return
      settling = events.length
      this.#settling += settling
      this.#leave(place)
    }
    const span = this.#deps.tracing?.attempt(events, inCall)
    let results: Result[] | null = null
    try {
      const end = span
        ? await span.within(() => attempted(this.#deps, handler, events, leavePlace))
        : await attempted(this.#deps, handler, events, leavePlace)
      results = end.unwritten ? null : (end.results ?? [])
      await this.#ended(events, end)
      return results ?? []
    } catch (error) {
      this.#unwritten(events, error)
      throw error
    } finally {
      span?.end(results?.map(({ kind }) => kind) ?? null)
      this.#settling -= settling
      this.#leave(place)
      if (this.#isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve()
    }
  }

  /**
   * Whether the next event may begin before the effects of the last one are visible. Not for a handler with a limit of its
   * own, because one with a limit of 1 relies on seeing them.
   */
  #mayOverlap(handler: Holder<Tx>): boolean {
    return this.#concurrency > 1 && handler?.options.concurrency === undefined
  }

  #leave(place: Place<Tx>): void {
    this.#places.leave(place)
    this.#placeIsFree()
  }

  #placeIsFree(): void {
    this.startReady()
    if (this.waiting <= this.bufferSize / 2) this.#deps.onRoom()
  }

  /** Events that have not begun, and those of a batch that failed, wait again. They keep their leases and their turn. */
  async #ended(events: readonly ClaimedEvent[], { results, begun, unwritten }: BatchEnd): Promise<void> {
    const { leases, measured, onSettled } = this.#deps
    if (unwritten) this.#unwritten(events.slice(0, begun), unwritten)
    for (const [i, result] of results?.entries() ?? []) {
      leases.drop(events[i]!.lease)
      measured.finished()
      onSettled(events[i]!, result)
    }
    if (!results) for (const event of events.slice(0, begun)) this.#queues.runAlone(event)
    const waiting = results ? events.slice(begun) : events
    leases.detach(waiting)
    if (this.#isStopped) await this.release(waiting)
    else for (const event of waiting.toReversed()) this.#queues.putBack(this.#holderOf(event), event)
  }

  #unwritten(events: readonly ClaimedEvent[], error: unknown): void {
    const { leases, log, counters } = this.#deps
    for (const { lease } of events) leases.drop(lease)
    const { source, id } = events[0]!
    const count = events.length > 1 && { events: events.length }
    log.error(
      { source, eventId: id, ...count, step: 'settle', code: countStoreError(counters, error) },
      'outcome not written: the event is tried again when its lease expires',
    )
  }

  #releasePaused(): void {
    const { pausedSources } = this.#deps.registry
    for (const holder of [...this.#queues.holders()]) {
      // Without a delay the event of a paused handler would be claimed again at once. The claim leaves out paused sources.
      if (holder?.paused)
        void this.release(
          this.#queues.remove(holder, () => true),
          RELEASE_DELAY_MS,
        )
      else if (pausedSources.size > 0)
        void this.release(this.#queues.remove(holder, ({ source }) => pausedSources.has(source)))
    }
  }

  #releaseSurplus(): void {
    for (const holder of [...this.#queues.holders()]) {
      const most = this.#mostWaiting(holder)
      if (this.#queues.of(holder).length <= most) continue
      const delayMs = holder?.meanMs == null ? FIRST_RELEASE_DELAY_MS : RELEASE_DELAY_MS
      void this.release(
        this.#queues.remove(holder, (_, position) => position >= most),
        delayMs,
      )
    }
  }

  /** Events that may wait for this handler. There is a limit when it is at its own limit, or hangs. */
  #mostWaiting(holder: Holder<Tx>): number {
    if (!holder) return Number.POSITIVE_INFINITY
    if (this.#places.isAtLimit(holder)) return maxAhead(holder, holder.options.concurrency!)
    if (this.#places.active < this.#concurrency || !this.#places.isLong(holder))
      return Number.POSITIVE_INFINITY
    return Math.max(2 * this.#concurrency, maxAhead(holder, this.#concurrency))
  }
}

async function attempted<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Holder<Tx>,
  events: readonly ClaimedEvent[],
  leavePlace: LeavePlace,
): Promise<BatchEnd> {
  if (!handler || events.length === 1)
    return { results: [await attempt(deps, handler, events[0]!, leavePlace)], begun: 1 }
  return attemptBatch(deps, handler, events, leavePlace)
}

/**
 * Events that wait in the buffer for a busy handler; more are released, so that the buffer has room for other handlers. Of
 * a handler of groups at least the next two groups, because a claim returns more than one group.
 */
function maxAhead<Tx>(handler: Registered<Tx>, handlerConcurrency: number): number {
  const size = groupSize(handler)
  // A handler that was quick may hang: then the time since its last change counts.
  const ms = Math.max(handler.meanMs ?? AHEAD_MS, performance.now() - handler.changedAt, 0.1)
  return handlerConcurrency * Math.max(size > 1 ? 2 * size : 1, Math.floor(AHEAD_MS / ms))
}
