/**
 * Dispatch: takes claimed events from the buffer when a place is free, and runs them as attempts. An event is
 *
 *   waiting    in the buffer (`buffer.ts`). A paused handler, too many events or a stop release it; a lost lease
 *              removes it;
 *   running    in an attempt that has a place (`places.ts`);
 *   settling   in an attempt whose handler has returned and left its place to the next event, while its outcome is written.
 *
 * After its attempt it has a result, or its outcome could not be written and its lease expires. Or it waits again: its
 * batch failed, or took no further event before it began. `runNow` runs an event that never waits.
 *
 * When dispatch is stopped, no event of the buffer starts.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent } from '../model.js'
import type { Tracing } from '../tracing.js'
import { type AttemptDeps, attempt } from './attempt.js'
import { attemptBatch, type BatchEnd } from './batch.js'
import type { EventBuffer } from './buffer.js'
import type { Limit, Limits } from './limits.js'
import type { Pause } from './pause.js'
import { type Holder, LONG_MS, type Place, type Places } from './places.js'
import { groupSize } from './registry.js'
import type { Result } from './result.js'
import type { LeavePlace } from './settle.js'

/** Events that are settling, for each place. Many outcomes share a write; after a crash all of these events run again. */
const SETTLING_PER_PLACE = 8
/** A retry that is due within this time ends the pause between two claims. */
const WAKE_WITHIN_MS = 60_000

export interface DispatchDeps<Tx> extends AttemptDeps<Tx> {
  readonly tracing: Tracing | null
  readonly buffer: EventBuffer<Tx>
  readonly places: Places<Tx>
  readonly limits: Limits<Tx>
  /** The pause of the claim loop, which ends when a retry is due. */
  readonly pause: Pause
  roomIsFree(): void
  onSettled(event: ClaimedEvent, result: Result): void
}

export class Dispatch<Tx> {
  isStopped = false
  /** During a drain surplus events stay in the buffer: a released event is due later, and the drain would end without it. */
  drains = 0
  readonly #deps: DispatchDeps<Tx>
  readonly #buffer: EventBuffer<Tx>
  readonly #places: Places<Tx>
  readonly #limits: Limits<Tx>
  readonly #whenIdle: (() => void)[] = []
  #settling = 0
  #releasing = 0
  #lending: NodeJS.Timeout | undefined

  constructor(deps: DispatchDeps<Tx>) {
    this.#deps = deps
    this.#buffer = deps.buffer
    this.#places = deps.places
    this.#limits = deps.limits
  }

  /** Events that the next claim may return. 0 when a claim is not worth a round trip. */
  get room(): number {
    const { size, waiting } = this.#buffer
    const room = size + this.#places.free - waiting
    return room <= 0 || (room < size / 2 && waiting > 0) ? 0 : room
  }

  /** Starts events while there are places for them, and releases those that would only take up room. */
  startReady(): void {
    if (this.isStopped) return
    this.#buffer.giveToNewHandlers()
    const paused = this.#buffer.removePaused()
    if (paused.length > 0) void this.release(paused)
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { holder, position } = next
      const events = this.#buffer.take(holder, position, this.#maxEventsNow(holder))
      // An error was logged; the lease expires.
      this.#run(holder, events, this.#limits.begin(holder, events[0]!)).catch(() => {})
    }
    const surplus = this.#buffer.removeSurplus(this.drains > 0)
    for (const { events, delayMs } of surplus) {
      void this.release(events, delayMs)
      if (delayMs < WAKE_WITHIN_MS) this.#deps.pause.endIn(delayMs)
    }
    this.#limits.plan(this.#buffer.queues())
    this.tellIdle()
    // The places of attempts that have run long enough by then are lent.
    if (!this.#buffer.isEmpty && this.#places.active >= this.#places.size)
      this.#lending ??= setTimeout(() => {
        this.#lending = undefined
        this.startReady()
        this.#tellRoom()
      }, LONG_MS).unref()
  }

  /** Rejects when the outcome could not be written. */
  async runNow(claimed: ClaimedEvent): Promise<Result> {
    const holder = this.#buffer.holderOf(claimed)
    const limit = holder?.options.limit ? await this.#limits.beginSoon(holder, claimed) : null
    if (holder?.options.limit && limit === null) {
      await this.release([claimed])
      return { kind: 'postponed', delayMs: 0 }
    }
    const [result] = await this.#run(holder, [claimed], limit, true)
    return result!
  }

  start(): void {
    this.isStopped = false
  }

  stop(): Promise<void> {
    this.isStopped = true
    clearTimeout(this.#lending)
    this.#lending = undefined
    return this.release(this.#buffer.clear())
  }

  /** Never rejects: leases that could not be released expire. */
  async release(claimed: readonly ClaimedEvent[], delayMs = 0): Promise<void> {
    if (claimed.length === 0) return
    const released = claimed.map(({ lease }) => lease)
    for (const lease of released) this.#deps.leases.drop(lease)
    this.#releasing++
    await this.#deps.store.release(released, delayMs).catch((error: unknown) => {
      this.#deps.log.warn(
        { step: 'claim', events: released.length, code: countStoreError(this.#deps.counters, error) },
        'events could not be released: they are tried again when their leases expire',
      )
    })
    this.#releasing--
    this.tellIdle()
  }

  idle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  tellIdle(): void {
    if (this.#isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** During a drain events may wait for a limit. */
  get #isIdle(): boolean {
    const isWriting = this.#settling > 0 || this.#releasing > 0
    return this.#places.active === 0 && !isWriting && (this.drains === 0 || this.#buffer.isEmpty)
  }

  /** Undefined when no event may start. Handlers below their quota go first. */
  #next(): { readonly holder: Holder<Tx>; readonly position: number } | undefined {
    const quota = this.#places.quota(this.#buffer.holders())
    let next: { readonly holder: Holder<Tx>; readonly position: number } | undefined
    for (const [holder, queue] of this.#buffer.queues()) {
      if (!this.#places.mayStart(holder, quota)) continue
      const position = this.#limits.first(holder, queue)
      if (position < 0) continue
      if (this.#places.heldBy(holder) < quota) return { holder, position }
      if (next === undefined) next = { holder, position }
    }
    return next
  }

  /** Events share a transaction only when there are more of them than free places: in a group they wait for each other. */
  #maxEventsNow(holder: Holder<Tx>): number {
    const queue = this.#buffer.of(holder)
    if (!holder || !this.#buffer.mayShare(queue[0]!)) return 1
    const most = groupSize(holder)
    if (most === 1 || holder.handleBatch) return most
    const { size, active } = this.#places
    const freePlaces = Math.min(size - active, this.#limits.left(holder))
    return Math.min(most, Math.ceil(queue.length / Math.max(1, freePlaces)))
  }

  /** Rejects when the outcome could not be written. The place is free again in any case. */
  async #run(
    handler: Holder<Tx>,
    events: readonly ClaimedEvent[],
    limit: Limit<Tx> | null,
    inCall = false,
  ): Promise<Result[]> {
    const place = this.#places.take(handler, events)
    let settling = 0
    const leavePlace = (isVisible: boolean) => {
      if (!isVisible && !this.#mayOverlap(handler)) return
      if (this.#settling >= SETTLING_PER_PLACE * this.#places.size) return
      settling = events.length
      this.#settling += settling
      this.#leave(place, limit)
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
      this.#leave(place, limit)
      this.tellIdle()
    }
  }

  /** False for a handler with its own limit: one with a limit of 1 relies on seeing the effects of the last event. */
  #mayOverlap(handler: Holder<Tx>): boolean {
    return this.#places.size > 1 && handler?.options.limit?.concurrency === undefined
  }

  /** Called again when the outcome is written, which may make another event of a lane due. */
  #leave(place: Place<Tx>, limit: Limit<Tx> | null): void {
    if (this.#places.leave(place)) {
      this.#limits.end(limit)
      this.startReady()
    }
    this.#tellRoom()
  }

  #tellRoom(): void {
    if (this.#buffer.waiting <= this.#buffer.size / 2) this.#deps.roomIsFree()
  }

  /** Events that have not begun, and those of a batch that failed, wait again. They keep their leases and their turn. */
  async #ended(events: readonly ClaimedEvent[], { results, begun, unwritten }: BatchEnd): Promise<void> {
    if (unwritten) this.#unwritten(events.slice(0, begun), unwritten)
    for (const [i, result] of results?.entries() ?? []) this.#settled(events[i]!, result)
    if (!results) for (const event of events.slice(0, begun)) this.#buffer.runAlone(event)
    const waiting = results ? events.slice(begun) : events
    this.#deps.leases.detach(waiting)
    if (this.isStopped) await this.release(waiting)
    else this.#buffer.putBack(waiting)
  }

  #settled(event: ClaimedEvent, result: Result): void {
    const { leases, pause, onSettled } = this.#deps
    leases.drop(event.lease)
    if (result.kind === 'failed' && result.retryAfterMs !== undefined)
      this.#limits.pause(this.#buffer.holderOf(event), event, result.retryAfterMs)
    this.#buffer.measured.finished()
    const dueInMs = dueIn(result)
    if (dueInMs !== null && dueInMs < WAKE_WITHIN_MS) pause.endIn(dueInMs)
    onSettled(event, result)
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

function dueIn(result: Result): number | null {
  if (result.kind === 'failed') return result.retryInMs
  return result.kind === 'postponed' ? result.delayMs : null
}
