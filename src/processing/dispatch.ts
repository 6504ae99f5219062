/**
 * Dispatch: claimed events wait in a buffer until a place is free, then run as attempts, one by one or in groups.
 * Events that cannot run now are given back, all that one look finds in one call.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, Lease } from '../model.js'
import { type AttemptDeps, attempt, type Group } from './attempt.js'
import { type Result, Stopping } from './handle.js'
import { groupSize, type Registered } from './handlers.js'
import type { Leases } from './leases.js'

/** Delay before a released event becomes due again. */
const LATER_MS = 1_000

export interface Dispatch {
  readonly waiting: number
  /** Puts claimed events into the buffer and starts what may start. */
  add(claimed: readonly ClaimedEvent[]): void
  /** Starts what may start. */
  pump(): void
  /** Takes an event out of the buffer. */
  remove(claimed: ClaimedEvent): void
  /** No further event begins; those that had not begun are handed out, to be released. */
  close(): ClaimedEvent[]
  open(): void
  /** The deadline of a stop is over: what runs is aborted, and so is what still begins. */
  expire(): void
  /** Runs this event now, beside the buffer. Throws when its outcome could not be written. */
  runNow(claimed: ClaimedEvent): Promise<Result>
  /** Resolves when no attempt runs. */
  quiet(): Promise<void>
}

export interface DispatchOptions<Tx> {
  readonly concurrency: number
  readonly leases: Leases<Tx>
  /** The result of an attempt of this process. */
  settled(event: ClaimedEvent, result: Result): void
  /** A place is free. */
  freed(): void
}

export function createDispatch<Tx>(
  deps: AttemptDeps<Tx>,
  { concurrency, leases, settled, freed }: DispatchOptions<Tx>,
): Dispatch {
  const { store, log, handlers, counters } = deps
  const waiting: ClaimedEvent[] = []
  const whenQuiet: (() => void)[] = []
  let active = 0
  let closed = false
  let expired = false

  /**
   * Events of a paused handler go back; so do events of a handler that is full, but for as many as it will take next, so
   * that they do not keep the buffer from those of another.
   */
  function pump(): void {
    const ahead = new Map<Registered<Tx>, number>()
    const back = new Map<number, Lease[]>()
    const giveBack = (index: number, delayMs: number): void => {
      const { lease } = waiting.splice(index, 1)[0]!
      leases.drop(lease)
      const own = back.get(delayMs) ?? []
      own.push(lease)
      back.set(delayMs, own)
    }
    for (let i = 0; i < waiting.length && active < concurrency && !closed; ) {
      const one = waiting[i]!
      const handler = handlers.resolve(one.source, one.eventType)
      const paused = handlers.pausedSources.has(one.source)
      const most = handler?.options.concurrency ?? concurrency
      if (paused || handler?.paused) {
        // Of a paused source nothing is claimed; of a paused handler it would be, again and again.
        giveBack(i, paused ? 0 : LATER_MS)
      } else if (handler && handler.active >= most) {
        const kept = ahead.get(handler) ?? 0
        ahead.set(handler, kept + 1)
        if (kept < keptAhead(handler, most)) i++
        else giveBack(i, LATER_MS)
      } else {
        run({ handler, events: takeGroup(handler, i) }).catch(() => {}) // logged there; the lease expires
      }
    }
    for (const [delayMs, own] of back) store.release(own, delayMs).catch(() => {}) // the leases expire
  }

  /** Takes the event at `from` out of the buffer, and further events of its handler if it accepts several. */
  function takeGroup(handler: Registered<Tx> | null, from: number): ClaimedEvent[] {
    const most = handler ? groupSize(handler) : 1
    const taken = waiting.splice(from, 1)
    for (let i = from; i < waiting.length && taken.length < most; ) {
      const { source, eventType } = waiting[i]!
      if (handlers.resolve(source, eventType) === handler) taken.push(...waiting.splice(i, 1))
      else i++
    }
    return taken
  }

  /** Runs an attempt. Rejects when its outcome could not be written; its place is free again in any case. */
  async function run(group: Group<Tx>): Promise<Result[]> {
    const { handler, events } = group
    active++
    if (handler) handler.active++
    try {
      const results = await attempt(deps, group, (session) => {
        leases.attach(session)
        if (expired) session.abort(new Stopping('the process is stopping'))
      })
      for (const [i, result] of results.entries()) settled(events[i]!, result)
      return results
    } catch (error) {
      const { source, eventId } = events[0]!
      log.error(
        { source, eventId, step: 'settle', code: countStoreError(counters, error) },
        'outcome not written: the event is tried again when its lease expires',
      )
      throw error
    } finally {
      active--
      if (handler) handler.active--
      for (const { lease } of events) leases.drop(lease)
      pump()
      freed()
      if (active === 0) for (const resolve of whenQuiet.splice(0)) resolve()
    }
  }

  return {
    get waiting() {
      return waiting.length
    },
    add(claimed) {
      waiting.push(...claimed)
      pump()
    },
    pump,
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
      expired = false
    },
    expire() {
      expired = true
      leases.abortAll(() => new Stopping('the process is stopping'))
    },
    async runNow(claimed) {
      const handler = handlers.resolve(claimed.source, claimed.eventType)
      const [result] = await run({ handler, events: [claimed], inCall: true })
      return result!
    },
    quiet: () => (active === 0 ? Promise.resolve() : new Promise((resolve) => whenQuiet.push(resolve))),
  }
}

/** Groups that are kept: the next two, because a claim brings more than one of them. */
function keptAhead<Tx>(handler: Registered<Tx>, most: number): number {
  return most * (handler.handleBatch ? 2 * groupSize(handler) : 1)
}
