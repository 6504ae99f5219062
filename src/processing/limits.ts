/**
 * The handler option `limit`, which holds across all processes of a log (docs/decisions/0011-limits.md). The store grants this
 * process slots (attempts at the same time) and starts (instants at which an attempt may begin). It uses them for event after
 * event without asking again, so an event costs no statement of its own. The part of a limit that is in use here is
 *
 *   unknown   nothing was asked yet. Its events wait in the buffer;
 *   granted   it has slots or starts. It asks again before they are used up;
 *   refused   other processes have all slots. After a second its events are released, so that those processes get them;
 *   blocked   paused by `retryAfter`, or the next start is far away. Its events are released until then;
 *   idle      nothing waits or runs. Its slots are given back.
 *
 * An event that waits has a lease and no place. When it is released its attempt does not count.
 */
import { randomUUID } from 'node:crypto'
import { countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import type { ClaimedEvent } from '../model.js'
import { type Granted, type GrantRequest, type LimitName, need } from '../store.js'
import type { AttemptDeps } from './attempt.js'
import { AHEAD_MS } from './buffer-size.js'
import type { HandlerLimit } from './handler.js'
import type { Holder, Places } from './places.js'
import { groupSize, type Registered } from './registry.js'
import { StoreTime } from './store-time.js'

/**
 * A start may be used so much later, as a part of a second or of the distance of two starts. The distance is longer by the
 * same part, so that never more than `perSecond` begin within a second.
 */
const LATE_PART = 0.04
/** Starts are asked for so far ahead. */
const AHEAD_STARTS_MS = 200
/** A process with slots asks again after this time: it then hears of a pause. */
const ASK_MS = 1_000
/** After a refusal; with jitter. */
const ASK_AGAIN_MS = 100
/** Slots of an idle limit are given back after this time. */
const IDLE_MS = 50
/** An event waits here for so long; longer waits are spent in the log. */
const HOLD_MS = 1_000
/** After this time a paused limit lets an event through, whatever `retryAfter` said. */
const MAX_PAUSE_MS = 60 * 60 * 1_000
const FIRST_RELEASE_MS = 100
const RELEASE_MS = 500
const MAX_RELEASE_MS = 8_000
const CALL_POLL_MS = 20
const MAX_REQUESTS = 1_000

interface LimitsDeps<Tx> extends Pick<AttemptDeps<Tx>, 'store' | 'log' | 'counters'> {
  readonly places: Pick<Places<Tx>, 'size' | 'active'>
  readonly worker: string
  readonly leaseMs: number
  /** An event may begin. */
  wake(): void
}

export interface Released {
  readonly events: readonly ClaimedEvent[]
  readonly delayMs: number
}

export class Limits<Tx> {
  readonly #deps: LimitsDeps<Tx>
  readonly #holder: { readonly id: string; readonly worker: string; readonly leaseMs: number }
  readonly #time = new StoreTime()
  readonly #byHandler = new Map<Registered<Tx>, Map<string, Limit<Tx>>>()
  #timer: NodeJS.Timeout | undefined
  #asking: Promise<void> | null = null

  constructor(deps: LimitsDeps<Tx>) {
    this.#deps = deps
    this.#holder = { id: randomUUID(), worker: deps.worker, leaseMs: deps.leaseMs }
  }

  /** The position of the first event that may begin now; -1 = none. */
  first(handler: Holder<Tx>, queue: readonly ClaimedEvent[]): number {
    const option = handler?.options.limit
    if (!option) return 0
    const now = performance.now()
    if (option.by === undefined) return this.#of(handler, queue[0]!).mayBegin(now) ? 0 : -1
    const refused = new Set<Limit<Tx>>()
    return queue.findIndex((event) => {
      const limit = this.#of(handler, event)
      if (refused.has(limit)) return false
      if (limit.mayBegin(now)) return true
      refused.add(limit)
      return false
    })
  }

  /** Attempts of the handler that may begin beside those that run. */
  left(handler: Holder<Tx>): number {
    if (handler?.options.limit?.concurrency === undefined) return Number.POSITIVE_INFINITY
    const limit = this.#byHandler.get(handler)?.get('')
    return limit ? limit.liveSlots(performance.now()) - limit.active : 0
  }

  /** `first` has said that it may. */
  begin(handler: Holder<Tx>, event: ClaimedEvent): Limit<Tx> | null {
    if (!handler?.options.limit) return null
    const limit = this.#of(handler, event)
    limit.active++
    limit.starts.shift()
    return limit
  }

  end(limit: Limit<Tx> | null): void {
    if (limit) limit.active--
  }

  /** For an event that does not wait in the buffer. Null when it may not begin within a second. */
  async beginSoon(handler: Registered<Tx>, event: ClaimedEvent): Promise<Limit<Tx> | null> {
    const limit = this.#of(handler, event)
    const left = countDown(HOLD_MS)
    limit.calls++
    limit.waiting++
    try {
      for (;;) {
        const now = performance.now()
        if (limit.mayBegin(now)) return this.begin(handler, event)
        if (left() <= 1 || limit.blockedMs(now) > left()) return null
        this.#ask()
        await new Promise((resolve) => setTimeout(resolve, CALL_POLL_MS))
      }
    } finally {
      limit.calls--
      limit.waiting = Math.max(0, limit.waiting - 1)
    }
  }

  /** How many events may wait for the handler. Infinity when it has no limit, or while it is not known. */
  mostWaiting(handler: Holder<Tx>, bufferSize: number): number {
    const option = handler?.options.limit
    if (!option) return Number.POSITIVE_INFINITY
    if (option.by !== undefined) return bufferSize
    const limit = this.#byHandler.get(handler!)?.get('')
    return limit ? limit.mostWaiting(performance.now()) : Number.POSITIVE_INFINITY
  }

  /** Events of the queue that would only take up room. `isDrain`: those that wait less than a second stay. */
  surplus(handler: Registered<Tx>, queue: readonly ClaimedEvent[], isDrain: boolean): Released[] {
    const now = performance.now()
    const waiting = new Map<Limit<Tx>, ClaimedEvent[]>()
    for (const event of queue) {
      const limit = this.#of(handler, event)
      waiting.set(limit, [...(waiting.get(limit) ?? []), event])
    }
    return [...waiting].flatMap(([limit, events]) => {
      const isBlocked = limit.blockedMs(now) > HOLD_MS
      if (isDrain && !isBlocked) return []
      const most = limit.mostWaiting(now)
      return most < events.length ? limit.released(events, most, now) : []
    })
  }

  /** A handler threw `retryAfter`: nothing of this limit begins for so long, in any process. */
  pause(handler: Holder<Tx>, event: ClaimedEvent, ms: number): void {
    if (!handler?.options.limit || ms <= 0) return
    const limit = this.#of(handler, event)
    limit.pauseMs = Math.min(MAX_PAUSE_MS, Math.max(limit.pauseMs, ms))
    limit.pausedUntil = Math.max(limit.pausedUntil, performance.now() + limit.pauseMs)
    this.#deps.log.info(
      { source: handler.source, handler: handler.pattern, step: 'handle', pausedMs: limit.pauseMs },
      'retryAfter: the limit of this handler is paused in all processes',
    )
  }

  /** Asks for what the waiting events need. */
  plan(waiting: Iterable<readonly [Holder<Tx>, readonly ClaimedEvent[]]>): void {
    for (const limit of this.#all()) limit.waiting = limit.calls
    for (const [handler, queue] of waiting)
      if (handler?.options.limit) for (const event of queue) this.#of(handler, event).waiting++
    for (const limit of this.#all()) if (limit.isUnused) this.#remove(limit)
    if (this.#byHandler.size > 0) this.#ask()
  }

  /** Slots that no attempt uses are for other processes, which also hear of the last pauses. Never rejects. */
  async giveBack(): Promise<void> {
    while (this.#asking) await this.#asking
    clearTimeout(this.#timer)
    const unused = [...this.#all()].filter(({ active, calls }) => active === 0 && calls === 0)
    const told = unused.filter(({ slots, pauseMs }) => slots > 0 || pauseMs > 0).slice(0, MAX_REQUESTS)
    const requests = told.map((limit) => limit.giveBack())
    for (const limit of unused) limit.forget()
    if (requests.length === 0) return
    // The slots are free when the lease is over. A request at the same time could overtake this one.
    this.#asking = this.#take(requests).then(
      () => {},
      () => {},
    )
    await this.#asking
    this.#asking = null
    this.#deps.wake()
  }

  #of(handler: Registered<Tx>, event: ClaimedEvent): Limit<Tx> {
    const byKey = this.#byHandler.get(handler) ?? new Map<string, Limit<Tx>>()
    this.#byHandler.set(handler, byKey)
    const key = keyOf(handler.options.limit!, event)
    const limit = byKey.get(key) ?? new Limit(handler, key, this.#deps.places)
    byKey.set(key, limit)
    return limit
  }

  *#all(): Generator<Limit<Tx>> {
    for (const byKey of this.#byHandler.values()) yield* byKey.values()
  }

  #take(requests: readonly GrantRequest[]): Promise<Granted> {
    return need(this.#deps.store, 'grants', 'the handler option limit').take(this.#holder, requests)
  }

  /** Sends the requests that are due, one call at a time, and comes back when the next is due or an event may begin. */
  #ask(): void {
    clearTimeout(this.#timer)
    const now = performance.now()
    const due: Limit<Tx>[] = []
    let next = Number.POSITIVE_INFINITY
    for (const limit of this.#all()) {
      const at = limit.asksAt(now)
      if (at > now) next = Math.min(next, at, limit.wakesAt(now))
      else due.push(limit)
    }
    if (due.length > 0) this.#asking ??= this.#askFor(due.slice(0, MAX_REQUESTS))
    if (next < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.#deps.wake(), Math.max(1, Math.ceil(next - now))).unref()
  }

  async #askFor(due: readonly Limit<Tx>[]): Promise<void> {
    const { log, counters } = this.#deps
    const askedAt = performance.now()
    const requests = due.map((limit) => limit.request(askedAt))
    try {
      const { now, grants } = await this.#take(requests)
      this.#time.heard(askedAt, performance.now(), now)
      for (const [i, limit] of due.entries()) {
        limit.granted(requests[i]!, grants[i]!, askedAt, askedAt + this.#holder.leaseMs, this.#time)
        if (limit.isForgotten) this.#remove(limit)
      }
    } catch (error) {
      for (const limit of due) limit.askAgainAt = performance.now() + ASK_MS
      log.error(
        { step: 'claim', code: countStoreError(counters, error) },
        'limits could not be read: their events wait; trying again',
      )
    } finally {
      this.#asking = null
    }
    this.#deps.wake()
  }

  #remove({ handler, name }: Limit<Tx>): void {
    const byKey = this.#byHandler.get(handler)
    byKey?.delete(name.key)
    if (byKey?.size === 0) this.#byHandler.delete(handler)
  }
}

/** Events without a reference have one limit together. */
function keyOf({ by }: HandlerLimit, { reference }: ClaimedEvent): string {
  return by === 'reference' ? (reference ?? '') : ''
}

/** The part of a limit that is in use in this process. All instants are of its monotonic clock. */
export class Limit<Tx> {
  readonly handler: Registered<Tx>
  readonly name: LimitName
  /** Attempts that run. */
  active = 0
  /** Events in the buffer, and calls. */
  waiting = 0
  calls = 0
  slots = 0
  readonly starts: number[] = []
  pausedUntil = 0
  /** A pause that the store does not know yet. */
  pauseMs = 0
  askAgainAt = 0
  isForgotten = false
  readonly #option: HandlerLimit
  readonly #places: LimitsDeps<Tx>['places']
  readonly #spacingMs: number
  readonly #lateMs: number
  #slotsUntil = 0
  #askedAt: number | null = null
  /** The next start that is free in the log, after a refusal. */
  #nextStartAt = 0
  #lastStartAt = 0
  #refusedAt: number | null = null
  #idleSince: number | null = null

  constructor(handler: Registered<Tx>, key: string, places: LimitsDeps<Tx>['places']) {
    this.handler = handler
    this.name = { source: handler.source, pattern: handler.pattern, key }
    this.#option = handler.options.limit!
    this.#places = places
    const apartMs = 1_000 / (this.#option.perSecond ?? 1)
    this.#spacingMs = apartMs * (1 + LATE_PART)
    this.#lateMs = LATE_PART * Math.max(1_000, apartMs)
  }

  mayBegin(now: number): boolean {
    return this.beginsAt(now) <= now
  }

  /** Infinity when it depends on an attempt that ends, or on an answer of the store. */
  beginsAt(now: number): number {
    const { concurrency, perSecond } = this.#option
    if (concurrency !== undefined && this.active >= this.liveSlots(now)) return Number.POSITIVE_INFINITY
    if (perSecond === undefined) return this.pausedUntil
    this.#dropLate(now)
    return Math.max(this.starts[0] ?? Number.POSITIVE_INFINITY, this.pausedUntil)
  }

  /** When an event that waits may begin, if that is known. With all places taken it begins when one is free. */
  wakesAt(now: number): number {
    if (this.waiting === 0) return Number.POSITIVE_INFINITY
    const at = this.beginsAt(now)
    if (at > now) return at
    // Its time has come since the waiting events were looked at. Nobody else would look again.
    return this.#places.active < this.#places.size ? now + CALL_POLL_MS : Number.POSITIVE_INFINITY
  }

  /** Nothing was asked for it. */
  get isUnused(): boolean {
    return this.#askedAt === null && this.waiting === 0 && this.active === 0 && this.pauseMs === 0
  }

  liveSlots(now: number): number {
    return now < this.#slotsUntil ? this.slots : 0
  }

  blockedMs(now: number): number {
    this.#dropLate(now)
    const nextStartAt = this.#option.perSecond === undefined ? 0 : (this.starts[0] ?? this.#nextStartAt)
    return Math.max(0, Math.max(this.pausedUntil, nextStartAt) - now)
  }

  mostWaiting(now: number): number {
    if (this.blockedMs(now) > HOLD_MS) return 0
    if (this.#isStarved(now)) return this.calls
    if (this.#askedAt === null) return Number.POSITIVE_INFINITY
    const { concurrency, perSecond } = this.#option
    const size = groupSize(this.handler)
    const bySlots =
      concurrency === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, this.slots) *
          Math.max(size > 1 ? 2 * size : 1, Math.floor(AHEAD_MS / this.#busyMs(now)))
    const byStarts =
      perSecond === undefined
        ? Number.POSITIVE_INFINITY
        : Math.ceil((perSecond * AHEAD_MS) / 1_000) * (size > 1 ? 2 * size : 1)
    return Math.min(bySlots, byStarts)
  }

  /**
   * They come back before it can be their turn: slots and starts must not be left unused. Groups of them are due at 0.5, 1, 2, 4
   * and 8 seconds, so that a long backlog is not claimed and released again and again.
   */
  released(events: readonly ClaimedEvent[], most: number, now: number): Released[] {
    const surplus = events.slice(most)
    const blockedMs = this.blockedMs(now)
    if (blockedMs > HOLD_MS) return [{ events: surplus, delayMs: blockedMs }]
    const { concurrency, perSecond } = this.#option
    const isUnknown = concurrency !== undefined && this.handler.meanMs === null
    if (isUnknown || this.#isStarved(now)) return [{ events: surplus, delayMs: FIRST_RELEASE_MS }]
    const bySlots = concurrency === undefined ? 0 : this.#busyMs(now) / concurrency
    const eachMs = Math.max(bySlots, perSecond === undefined ? 0 : this.#spacingMs)
    const groups = new Map<number, ClaimedEvent[]>()
    for (const [i, event] of surplus.entries()) {
      let delayMs = RELEASE_MS
      while (2 * delayMs <= Math.min(MAX_RELEASE_MS, (most + i) * eachMs)) delayMs *= 2
      groups.set(delayMs, [...(groups.get(delayMs) ?? []), event])
    }
    return [...groups].map(([delayMs, group]) => ({ events: group, delayMs }))
  }

  /** When the store must be asked next. */
  asksAt(now: number): number {
    const isIdle = this.waiting === 0 && this.active === 0
    this.#idleSince = isIdle ? (this.#idleSince ?? now) : null
    if (this.pauseMs > 0) return this.askAgainAt
    if (isIdle) return this.#asksIdleAt()
    if (this.waiting > 0 && now >= this.pausedUntil && this.#wantsMore(now)) return this.askAgainAt
    const renewsAt = this.slots > 0 ? this.#askedAt! + this.#askMs : Number.POSITIVE_INFINITY
    return Math.max(this.askAgainAt, Math.min(renewsAt, this.#pauseEndsAt(now)))
  }

  request(now: number): GrantRequest {
    const { concurrency, perSecond } = this.#option
    const wanted = this.#wantedSlots()
    // The store gives the others to other processes before its answer comes, and also when the answer is lost.
    this.slots = Math.min(this.slots, wanted)
    const starts = perSecond === undefined ? 0 : this.#wantedStarts(now)
    return {
      ...this.name,
      ...(concurrency !== undefined && { slots: { wanted, most: concurrency } }),
      ...(starts > 0 && { starts: { wanted: starts, spacingMs: this.#spacingMs } }),
      ...(this.pauseMs > 0 && { pauseMs: this.pauseMs }),
    }
  }

  giveBack(): GrantRequest {
    const { concurrency } = this.#option
    return {
      ...this.name,
      ...(concurrency !== undefined && { slots: { wanted: 0, most: concurrency } }),
      ...(this.pauseMs > 0 && { pauseMs: this.pauseMs }),
    }
  }

  forget(): void {
    this.#askedAt = null
    this.slots = 0
    this.starts.length = 0
    this.pauseMs = 0
  }

  granted(
    request: GrantRequest,
    { slots, starts, firstStartAt, pausedUntil }: Granted['grants'][number],
    askedAt: number,
    slotsUntil: number,
    time: StoreTime,
  ): void {
    const now = performance.now()
    this.#askedAt = askedAt
    if (request.pauseMs === this.pauseMs) this.pauseMs = 0
    if (pausedUntil > 0) this.pausedUntil = time.local(pausedUntil)
    else if (this.pauseMs === 0) this.pausedUntil = 0
    this.slots = slots
    this.#slotsUntil = slotsUntil
    for (let i = 0; i < starts; i++) this.starts.push(time.local(firstStartAt) + i * this.#spacingMs)
    this.#lastStartAt = this.starts.at(-1) ?? this.#lastStartAt
    this.#nextStartAt = request.starts && starts === 0 ? time.local(firstStartAt) : 0
    const wanted = request.slots?.wanted ?? 0
    const isRefused = wanted > 0 && slots === 0
    if (wanted > 0) this.#refusedAt = isRefused ? (this.#refusedAt ?? now) : null
    const lacks = slots < wanted
    const isEarly = this.#nextStartAt > 0 ? Math.max(0, this.#nextStartAt - now - HOLD_MS / 2) : 0
    this.askAgainAt =
      now + Math.max(isEarly, lacks || isEarly > 0 ? ASK_AGAIN_MS * (0.75 + Math.random() / 2) : 0)
    this.isForgotten =
      this.waiting === 0 && this.active === 0 && slots === 0 && now >= this.#unusedAt && this.pauseMs === 0
  }

  get #askMs(): number {
    return Math.min(ASK_MS, (this.#slotsUntil - (this.#askedAt ?? 0)) / 3)
  }

  /** The row of a limit without slots is removed from the log once its last start is over. */
  #asksIdleAt(): number {
    if (this.#askedAt === null) return Number.POSITIVE_INFINITY
    const at = this.slots > 0 ? this.#idleSince! : Math.max(this.#idleSince!, this.#unusedAt)
    return Math.max(at + IDLE_MS, this.askAgainAt)
  }

  get #unusedAt(): number {
    const refusedUntil = this.#refusedAt === null ? 0 : this.#refusedAt + 2 * HOLD_MS
    const startsUntil = this.#option.perSecond === undefined ? 0 : this.#lastStartAt + this.#spacingMs
    return Math.max(this.pausedUntil, refusedUntil, startsUntil)
  }

  #wantsMore(now: number): boolean {
    const { concurrency, perSecond } = this.#option
    if (concurrency !== undefined && this.liveSlots(now) < this.#wantedSlots()) return true
    return perSecond !== undefined && this.#wantedStarts(now) > 0
  }

  #wantedSlots(): number {
    const wanted = Math.max(this.active, Math.min(this.active + this.waiting, this.#places.size))
    return Math.min(wanted, this.#option.concurrency ?? 0)
  }

  /** As many as events will probably begin in the next moment: a start that is not used is lost for all processes. */
  #wantedStarts(now: number): number {
    const { concurrency, perSecond = 1 } = this.#option
    if (this.waiting === 0 || (concurrency !== undefined && this.liveSlots(now) === 0)) return 0
    this.#dropLate(now)
    const { size, active } = this.#places
    const meanMs = this.handler.meanMs ?? AHEAD_STARTS_MS
    const most = Math.min(size, concurrency === undefined ? size : this.slots)
    const free = Math.min(size - active, most - this.active)
    const soon =
      meanMs > AHEAD_STARTS_MS ? free : Math.floor((most * AHEAD_STARTS_MS) / Math.max(meanMs, 0.1))
    const ahead = Math.ceil((perSecond * AHEAD_STARTS_MS) / 1_000)
    const wanted = Math.min(this.waiting, ahead, soon)
    return this.starts.length <= wanted / 2 ? Math.max(0, wanted - this.starts.length) : 0
  }

  #pauseEndsAt(now: number): number {
    return this.waiting > 0 && this.pausedUntil > now ? this.pausedUntil : Number.POSITIVE_INFINITY
  }

  /** Refused for a second; after another one it may try again. */
  #isStarved(now: number): boolean {
    if (this.#refusedAt === null) return false
    if (now - this.#refusedAt > 2 * HOLD_MS) this.#refusedAt = now
    return now - this.#refusedAt > HOLD_MS
  }

  /** A handler that was quick may hang: then the time since its last change counts. */
  #busyMs(now: number): number {
    const { meanMs, changedAt } = this.handler
    return Math.max(meanMs ?? AHEAD_MS, this.active > 0 ? now - changedAt : 0, 0.1)
  }

  #dropLate(now: number): void {
    while (this.starts.length > 0 && this.starts[0]! + this.#lateMs < now) this.starts.shift()
  }
}
