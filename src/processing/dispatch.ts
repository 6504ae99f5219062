/**
 * Dispatch: claimed events wait in a buffer until a place is free, then run as attempts, one by one or in groups.
 * Events that cannot run now are given back, all that one look finds in one call.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, Lease } from '../model.js'
import { type AttemptParts, attempt } from './attempt.js'
import { attemptBatch } from './batch.js'
import { type Result, Stopping } from './handle.js'
import { groupSize, type Registered } from './handlers.js'
import type { Leases } from './leases.js'
import type { Session } from './session.js'

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
  runNow(claimed: ClaimedEvent): Promise<Result | null>
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

type Run<Tx, R> = (own: readonly ClaimedEvent[], onSession: (session: Session<Tx>) => void) => Promise<R>

export function createDispatch<Tx>(
  parts: AttemptParts<Tx>,
  { concurrency, leases, settled, freed }: DispatchOptions<Tx>,
): Dispatch {
  const { store, log, handlers, counters } = parts
  const inCall: AttemptParts<Tx> = { ...parts, inCall: true }
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
      } else if (handler?.handleBatch) {
        void track(handler, takeGroup(handler, i), (own, onSession) =>
          attemptBatch(parts, handler, own, onSession),
        )
      } else {
        waiting.splice(i, 1)
        void track(handler, [one], (own, onSession) => attempt(parts, own[0]!, onSession))
      }
    }
    for (const [delayMs, own] of back) store.release(own, delayMs).catch(() => {}) // the leases expire
  }

  function takeGroup(handler: Registered<Tx>, from: number): ClaimedEvent[] {
    const most = groupSize(handler)
    const taken: ClaimedEvent[] = []
    for (let i = from; i < waiting.length && taken.length < most; ) {
      const one = waiting[i]!
      if (handlers.resolve(one.source, one.eventType) === handler) taken.push(...waiting.splice(i, 1))
      else i++
    }
    return taken
  }

  /** Runs an attempt in a place of its own, and frees the place whatever happens. */
  async function track<R>(
    handler: Registered<Tx> | null,
    own: readonly ClaimedEvent[],
    run: Run<Tx, R>,
  ): Promise<R | undefined> {
    active++
    if (handler) handler.active++
    try {
      const result = await run(own, (session) => {
        leases.attach(session)
        if (expired) session.abort(new Stopping('the process is stopping'))
      })
      for (const [i, one] of [result].flat().entries()) settled(own[i]!, one as Result)
      return result
    } catch (error) {
      // The store could not be told. The lease expires, and the event is tried again.
      log.error(
        {
          source: own[0]!.source,
          eventId: own[0]!.eventId,
          step: 'settle',
          code: countStoreError(counters, error),
        },
        'outcome not written',
      )
      return undefined
    } finally {
      active--
      if (handler) handler.active--
      for (const { lease } of own) leases.drop(lease)
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
      let unwritten: { readonly error: unknown } | null = null
      const result = await track(handler, [claimed], async (own, onSession) => {
        try {
          return handler?.handleBatch
            ? (await attemptBatch(inCall, handler, own, onSession))[0]!
            : await attempt(inCall, own[0]!, onSession)
        } catch (error) {
          unwritten = { error }
          throw error
        }
      })
      // Null would say that somebody else has it. The caller must know that nobody can tell how it ended.
      if (unwritten !== null) throw (unwritten as { error: unknown }).error
      return result ?? null
    },
    quiet: () => (active === 0 ? Promise.resolve() : new Promise((resolve) => whenQuiet.push(resolve))),
  }
}

/** Groups that are kept: the next two, because a claim brings more than one of them. */
function keptAhead<Tx>(handler: Registered<Tx>, most: number): number {
  return most * (handler.handleBatch ? 2 * groupSize(handler) : 1)
}
