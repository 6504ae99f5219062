/**
 * Dispatch: claimed events wait in a buffer until a place is free, and then run as attempts, in groups of one event or
 * more. The buffer has a queue for each handler. A queue is
 *
 *   ready     its handler may start an attempt: it does, in turns with the other handlers (`places.ts`);
 *   waiting   no place is free for its handler now;
 *   aside     its handler is at its own limit or hangs, and has enough events. The queue does not count as part of the
 *             buffer, so that events of other handlers are still claimed. More events than it may hold are released;
 *   paused    its events are released.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, Lease } from '../model.js'
import { type AttemptDeps, attempt, type Group } from './attempt.js'
import { type Result, Stopping } from './handle.js'
import { groupSize, type Registered } from './handlers.js'
import type { Leases } from './leases.js'
import { type Holder, LONG_MS, Places } from './places.js'

/** Delay before a released event becomes due again. */
const RELEASE_DELAY_MS = 1_000
/** The same while it is not known how long the handler takes. */
const FIRST_RELEASE_DELAY_MS = 100
/** Events of a busy handler stay in the buffer if they can begin within this time. */
const AHEAD_MS = 500
/**
 * Events whose handler has returned and whose outcome is not written yet, for each place. They leave their places to the
 * next events, so that many outcomes share a write. After a crash all of them run again.
 */
const SETTLING_PER_PLACE = 8

export interface Dispatch<Tx> {
  /** Events in the buffer, without the queues that are set aside. */
  readonly waiting: number
  /** Places for a handler that holds none. Attempts of `runNow` may use more than there are: the number is then negative. */
  readonly freePlaces: number
  /** True when the queue of this handler is set aside. */
  isAside(handler: Registered<Tx>): boolean
  /** Puts claimed events into the buffer, and starts those that may start. */
  add(claimed: readonly ClaimedEvent[]): void
  /** Starts events of the buffer that may start by now, and releases those whose handler has become slow. */
  review(): void
  /** Takes an event out of the buffer. */
  remove(claimed: ClaimedEvent): void
  /** Starts no further attempt. Returns the events of the buffer, to be released. */
  close(): ClaimedEvent[]
  open(): void
  /** Aborts running attempts, and from now on attempts that begin. */
  abortAll(): void
  /** Runs this event now, without the buffer. Throws when its outcome could not be written. */
  runNow(claimed: ClaimedEvent): Promise<Result>
  /** Resolves when no attempt runs. */
  idle(): Promise<void>
  /** Keeps events of busy handlers in the buffer while `work` runs, however many they are, instead of releasing them. */
  keepAll<T>(work: () => Promise<T>): Promise<T>
}

export interface DispatchOptions<Tx> {
  readonly concurrency: number
  readonly leases: Leases<Tx>
  bufferSize(): number
  /** Called with the result of each attempt. */
  onSettled(event: ClaimedEvent, result: Result): void
  /** Called when a place is free, or lent. */
  onFreePlace(): void
}

export function createDispatch<Tx>(
  deps: AttemptDeps<Tx>,
  { concurrency, leases, bufferSize, onSettled, onFreePlace }: DispatchOptions<Tx>,
): Dispatch<Tx> {
  const { store, log, handlers, counters } = deps
  const places = new Places<Tx>(concurrency)
  /** The handler that was served least recently first. */
  const queues = new Map<Holder<Tx>, ClaimedEvent[]>()
  const whenIdle: (() => void)[] = []
  let lending: NodeJS.Timeout | undefined
  let settling = 0
  let closed = false
  let aborting = false
  let keeping = 0

  function enqueue(claimed: readonly ClaimedEvent[], where: 'push' | 'unshift' = 'push'): void {
    for (const event of claimed) {
      const handler = handlers.resolve(event.source, event.eventType)
      const queue = queues.get(handler)
      if (queue) queue[where](event)
      else queues.set(handler, [event])
    }
  }

  /** Starts events of the buffer while there are places for them, and releases those that would only take up room. */
  function startWaiting(): void {
    if (closed) return
    releasePaused()
    for (let next = nextHandler(); next !== undefined; next = nextHandler()) {
      const events = takeGroup(next)
      // A handler may have been added since the event was put into the buffer.
      const handler = next ?? handlers.resolve(events[0]!.source, events[0]!.eventType)
      run({ handler, events }).catch(() => {}) // `run` has logged it; the lease expires
    }
    if (keeping === 0) releaseSurplus()
    // The places of attempts that have run long enough by then are lent.
    if (queues.size > 0 && places.active >= concurrency) lending ??= setTimeout(lend, LONG_MS).unref()
  }

  function lend(): void {
    lending = undefined
    startWaiting()
    onFreePlace()
  }

  /** Undefined when no event may start. Handlers below their share go first. */
  function nextHandler(): Holder<Tx> | undefined {
    const share = places.share(queues.keys())
    let next: Holder<Tx> | undefined
    for (const handler of queues.keys()) {
      if (!places.mayStart(handler, share)) continue
      if (places.heldBy(handler) < share) return handler
      if (next === undefined) next = handler
    }
    return next
  }

  function releasePaused(): void {
    const { pausedSources } = handlers
    for (const [handler, queue] of queues) {
      // Without a delay the event of a paused handler would be claimed again at once. The claim leaves out paused sources.
      if (handler?.paused) release(handler, queue.splice(0), RELEASE_DELAY_MS)
      else if (pausedSources.size > 0)
        for (const event of queue.filter(({ source }) => pausedSources.has(source))) {
          queue.splice(queue.indexOf(event), 1)
          release(handler, [event], 0)
        }
    }
  }

  function releaseSurplus(): void {
    for (const [handler, queue] of queues) {
      const most = mostWaiting(handler)
      if (queue.length <= most) continue
      const delayMs = handler?.meanMs == null ? FIRST_RELEASE_DELAY_MS : RELEASE_DELAY_MS
      release(handler, queue.splice(most), delayMs)
    }
  }

  function release(handler: Holder<Tx>, events: readonly ClaimedEvent[], delayMs: number): void {
    if (queues.get(handler)?.length === 0) queues.delete(handler)
    if (events.length === 0) return
    const released: Lease[] = events.map(({ lease }) => lease)
    for (const lease of released) leases.drop(lease)
    store.release(released, delayMs).catch(() => {}) // the leases expire
  }

  /** Events that may wait for this handler. There is a limit when it is at its own limit, or hangs. */
  function mostWaiting(handler: Holder<Tx>): number {
    if (!handler) return Number.POSITIVE_INFINITY
    if (places.isAtLimit(handler)) return maxAhead(handler, handler.options.concurrency!)
    if (places.active < concurrency || !places.isLong(handler)) return Number.POSITIVE_INFINITY
    return Math.max(2 * concurrency, maxAhead(handler, concurrency))
  }

  function isAside(handler: Holder<Tx>): boolean {
    const most = mostWaiting(handler)
    if (most === Number.POSITIVE_INFINITY) return false
    // An event that waits is enough for a handler that hangs: several of them would fill the buffer together.
    const enough = places.isLong(handler) ? 1 : most
    return (queues.get(handler)?.length ?? 0) >= Math.min(enough, bufferSize())
  }

  /**
   * Takes the first event of this handler out of the buffer, and further events if the handler takes several. An event that
   * has been tried before is a group of its own: it would probably fail its neighbours.
   */
  function takeGroup(handler: Holder<Tx>): ClaimedEvent[] {
    const queue = queues.get(handler)!
    const maxEvents = handler && queue[0]!.tries === 1 ? maxEventsNow(handler, queue.length) : 1
    const group = queue.splice(0, 1)
    for (let i = 0; i < queue.length && group.length < maxEvents; ) {
      if (queue[i]!.tries === 1) group.push(...queue.splice(i, 1))
      else i++
    }
    queues.delete(handler)
    if (queue.length > 0) queues.set(handler, queue)
    return group
  }

  /** Events share a transaction only when there are more of them than free places: in a group they wait for each other. */
  function maxEventsNow(handler: Registered<Tx>, waiting: number): number {
    const most = groupSize(handler)
    if (most === 1 || handler.handleBatch) return most
    const freePlaces = Math.min(
      concurrency - places.active,
      (handler.options.concurrency ?? concurrency) - handler.active,
    )
    return Math.min(most, Math.ceil(waiting / Math.max(1, freePlaces)))
  }

  /** Events of a group that have not begun: they keep their leases and their turn. */
  async function putBack(events: readonly ClaimedEvent[]): Promise<void> {
    if (events.length === 0) return
    leases.detach(events)
    if (!closed) {
      enqueue(events.toReversed(), 'unshift')
      return
    }
    for (const { lease } of events) leases.drop(lease)
    await store.release(events.map(({ lease }) => lease)).catch(() => {}) // the leases expire
  }

  /**
   * Whether the next event may begin before the effects of the last one are visible. Not for a handler with a limit of its own,
   * because one with a limit of 1 relies on seeing them.
   */
  function mayOverlap(handler: Registered<Tx> | null): boolean {
    return concurrency > 1 && handler?.options.concurrency === undefined
  }

  /** Runs an attempt. Rejects when its outcome could not be written. Its place is free again in any case. */
  async function run(group: Group<Tx>): Promise<Result[]> {
    const { handler, events } = group
    const place = places.take(handler, events.length, () => {
      startWaiting()
      onFreePlace()
    })
    let isSettling = false
    const leavePlace = () => {
      if (settling >= SETTLING_PER_PLACE * concurrency) return
      isSettling = true
      settling += events.length
      place.free()
    }
    try {
      const results = await attempt(deps, group, {
        onSession(session) {
          leases.attach(session)
          if (aborting) session.abort(new Stopping('the process is stopping'))
        },
        onHandled: leavePlace,
        ...(mayOverlap(handler) && { onCommitSent: leavePlace }),
      })
      for (const [i, result] of results.entries()) {
        leases.drop(events[i]!.lease)
        onSettled(events[i]!, result)
      }
      await putBack(events.slice(results.length))
      return results
    } catch (error) {
      for (const { lease } of events) leases.drop(lease)
      const { source, eventId } = events[0]!
      log.error(
        {
          source,
          eventId,
          ...(events.length > 1 && { events: events.length }),
          step: 'settle',
          code: countStoreError(counters, error),
        },
        'outcome not written: the event is tried again when its lease expires',
      )
      throw error
    } finally {
      if (isSettling) settling -= events.length
      place.free()
      if (places.active === 0 && settling === 0) for (const resolve of whenIdle.splice(0)) resolve()
    }
  }

  return {
    get waiting() {
      let events = 0
      for (const [handler, queue] of queues) if (!isAside(handler)) events += queue.length
      return events
    },
    get freePlaces() {
      return places.free
    },
    isAside,
    add(claimed) {
      enqueue(claimed)
      startWaiting()
    },
    review: startWaiting,
    remove(claimed) {
      for (const [handler, queue] of queues) {
        const at = queue.indexOf(claimed)
        if (at >= 0) queue.splice(at, 1)
        if (queue.length === 0) queues.delete(handler)
      }
    },
    close() {
      closed = true
      clearTimeout(lending)
      lending = undefined
      const unstarted = [...queues.values()].flat()
      queues.clear()
      for (const { lease } of unstarted) leases.drop(lease)
      return unstarted
    },
    open() {
      closed = false
      aborting = false
    },
    abortAll() {
      aborting = true
      leases.abortAll(() => new Stopping('the process is stopping'))
    },
    async runNow(claimed) {
      const handler = handlers.resolve(claimed.source, claimed.eventType)
      const [result] = await run({ handler, events: [claimed], inCall: true })
      return result!
    },
    async keepAll(work) {
      keeping++
      try {
        return await work()
      } finally {
        keeping--
      }
    },
    idle: () =>
      places.active === 0 && settling === 0
        ? Promise.resolve()
        : new Promise((resolve) => whenIdle.push(resolve)),
  }
}

/**
 * Events that wait in the buffer for a busy handler; more are released, so that the buffer has room for other handlers. Of
 * a handler of groups at least the next two groups, because a claim returns more than one group.
 */
function maxAhead<Tx>(handler: Registered<Tx>, handlerConcurrency: number): number {
  const size = groupSize(handler)
  // A handler that was quick may hang: then the time since its last change counts.
  const ms = Math.max(handler.meanMs ?? AHEAD_MS, performance.now() - handler.changedAt, 0.1)
  const inTime = AHEAD_MS / ms
  return handlerConcurrency * Math.max(size > 1 ? 2 * size : 1, Math.floor(inTime))
}
