/**
 * Dispatch: claimed events wait in a buffer until a place is free, and then run as attempts, in groups of one event or
 * more. Events that cannot run now are released.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, Lease } from '../model.js'
import { type AttemptDeps, attempt, type Group } from './attempt.js'
import { type Result, Stopping } from './handle.js'
import { groupSize, type Registered } from './handlers.js'
import type { Leases } from './leases.js'

/** Delay before a released event becomes due again. */
const RELEASE_DELAY_MS = 1_000
/** The same while it is not known how long the handler takes. */
const FIRST_RELEASE_DELAY_MS = 100
/** Events of a busy handler stay in the buffer if they can begin within this time. */
const AHEAD_MS = 500
/** The weight of the last attempt in the moving average. */
const LAST_WEIGHT = 0.2
/**
 * Events whose handler has returned and whose outcome is not written yet, for each place. They leave their places to the
 * next events, so that many outcomes share a write. After a crash all of them run again.
 */
const SETTLING_PER_PLACE = 8

export interface Dispatch {
  /** Events in the buffer. */
  readonly waiting: number
  /** Places without an attempt. Attempts of `runNow` may use more places than there are: the number is then negative. */
  readonly freePlaces: number
  /** Puts claimed events into the buffer, and starts those that may start. */
  add(claimed: readonly ClaimedEvent[]): void
  /** Releases events of the buffer whose handler has become slow; their place is needed for others. */
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
  /** Called with the result of each attempt. */
  onSettled(event: ClaimedEvent, result: Result): void
  onFreePlace(): void
}

export function createDispatch<Tx>(
  deps: AttemptDeps<Tx>,
  { concurrency, leases, onSettled, onFreePlace }: DispatchOptions<Tx>,
): Dispatch {
  const { store, log, handlers, counters } = deps
  const waiting: ClaimedEvent[] = []
  const whenIdle: (() => void)[] = []
  let active = 0
  let settling = 0
  let closed = false
  let aborting = false
  let keeping = 0

  /** Starts events of the buffer while there are free places, and releases those that would only take up room. */
  function startWaiting(): void {
    const ahead = new Map<Registered<Tx>, number>()
    const released = new Map<number, Lease[]>()
    const release = (index: number, delayMs: number): void => {
      const { lease } = waiting.splice(index, 1)[0]!
      leases.drop(lease)
      const sameDelay = released.get(delayMs) ?? []
      sameDelay.push(lease)
      released.set(delayMs, sameDelay)
    }
    for (let i = 0; i < waiting.length && active < concurrency && !closed; ) {
      const { source, eventType } = waiting[i]!
      const handler = handlers.resolve(source, eventType)
      const handlerConcurrency = handler?.options.concurrency ?? concurrency
      if (handlers.pausedSources.has(source)) {
        release(i, 0) // the claim leaves out paused sources
      } else if (handler?.paused) {
        release(i, RELEASE_DELAY_MS) // without a delay it would be claimed again at once
      } else if (handler && handler.active >= handlerConcurrency) {
        const before = ahead.get(handler) ?? 0
        ahead.set(handler, before + 1)
        if (keeping > 0 || before < maxAhead(handler, handlerConcurrency)) i++
        else release(i, handler.meanMs === null ? FIRST_RELEASE_DELAY_MS : RELEASE_DELAY_MS)
      } else {
        run({ handler, events: takeGroup(handler, i) }).catch(() => {}) // `run` has logged it; the lease expires
      }
    }
    for (const [delayMs, own] of released) store.release(own, delayMs).catch(() => {}) // the leases expire
  }

  /**
   * Takes the event at `from` out of the buffer, and further events of its handler if the handler takes several. An event
   * that has been tried before is a group of its own: it would probably fail its neighbours.
   */
  function takeGroup(handler: Registered<Tx> | null, from: number): ClaimedEvent[] {
    const maxEvents = handler && waiting[from]!.tries === 1 ? maxEventsNow(handler) : 1
    const group = waiting.splice(from, 1)
    for (let i = from; i < waiting.length && group.length < maxEvents; ) {
      const { source, eventType, tries } = waiting[i]!
      if (tries === 1 && handlers.resolve(source, eventType) === handler) group.push(...waiting.splice(i, 1))
      else i++
    }
    return group
  }

  /** Events share a transaction only when there are more of them than free places: in a group they wait for each other. */
  function maxEventsNow(handler: Registered<Tx>): number {
    const most = groupSize(handler)
    if (most === 1 || handler.handleBatch) return most
    const freePlaces = Math.min(
      concurrency - active,
      (handler.options.concurrency ?? concurrency) - handler.active,
    )
    return Math.min(most, Math.ceil(waiting.length / Math.max(1, freePlaces)))
  }

  /** Events of a group that have not begun: they keep their leases and their turn. */
  async function putBack(events: readonly ClaimedEvent[]): Promise<void> {
    if (events.length === 0) return
    leases.detach(events)
    if (!closed) {
      waiting.unshift(...events)
      return
    }
    for (const { lease } of events) leases.drop(lease)
    await store.release(events.map(({ lease }) => lease)).catch(() => {}) // the leases expire
  }

  /** A place for one attempt, until `free` is called. */
  function takePlace(handler: Registered<Tx> | null, events: number): { free(): void } {
    let isFree = false
    const startedAt = performance.now()
    active++
    if (handler) {
      handler.active++
      handler.changedAt = startedAt
    }
    return {
      free() {
        if (!isFree) {
          isFree = true
          active--
          if (handler) {
            handler.active--
            handler.changedAt = performance.now()
            const ms = (handler.changedAt - startedAt) / events
            handler.meanMs =
              handler.meanMs === null ? ms : handler.meanMs * (1 - LAST_WEIGHT) + ms * LAST_WEIGHT
          }
        }
        startWaiting()
        onFreePlace()
      },
    }
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
    const place = takePlace(handler, events.length)
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
      if (active === 0 && settling === 0) for (const resolve of whenIdle.splice(0)) resolve()
    }
  }

  return {
    get waiting() {
      return waiting.length
    },
    get freePlaces() {
      return concurrency - active
    },
    add(claimed) {
      waiting.push(...claimed)
      startWaiting()
    },
    review: startWaiting,
    remove(claimed) {
      const at = waiting.indexOf(claimed)
      if (at >= 0) waiting.splice(at, 1)
    },
    close() {
      closed = true
      const unstarted = waiting.splice(0)
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
      active === 0 && settling === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
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
