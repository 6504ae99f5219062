/**
 * The loop: claims due events into a small buffer, runs attempts, keeps their leases alive, and hands back what it has
 * not begun when it stops. Woken by this process's own intake, by other processes where the store can tell, and by a
 * jittered poll that always stays.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import { invalid } from '../errors.js'
import type { ClaimedEvent, EventKey, Lease, Settlement } from '../model.js'
import { type AttemptParts, attempt } from './attempt.js'
import { attemptBatch } from './batch.js'
import { gather } from './gather.js'
import { leaseLost, type Result, Stopping } from './handle.js'
import { groupSize, type Registered } from './handlers.js'
import type { Session } from './session.js'

export interface ProcessingOptions {
  /** Attempts at the same time, in this process. Default 16. */
  readonly concurrency?: number
  /** Events claimed ahead of the attempts. Default twice the concurrency, or twice the largest group. */
  readonly buffer?: number
  /** How long a claim holds without a sign of life. Default 30,000; extended three times in that time. */
  readonly leaseMs?: number
  /** How long to wait, at most, before looking for work without being woken. Default 1,000. */
  readonly pollMs?: number
  /** Shown in the attempts. Default: host, process, and a random part. */
  readonly worker?: string
}

export interface Processor {
  start(): Promise<void>
  /** Something was recorded: look now. */
  wake(): void
  /** Stops claiming, finishes what runs, hands back the rest when `deadlineMs` is over. */
  stop(deadlineMs?: number): Promise<void>
  /** Runs everything that is due, until nothing is. */
  drain(): Promise<number>
  /** Runs this one now, due or not. Null: it is not there, has finished, or somebody has it. */
  one(key: EventKey): Promise<Result | null>
}

interface Held<Tx> {
  readonly claimed: ClaimedEvent
  /** Null while it waits in the buffer. */
  session: Session<Tx> | null
  /** When the lease ends by this process's steady clock, if it is not extended. */
  until: number
}

/** Delay before a released event becomes due again. */
const LATER_MS = 1_000
const SUSPECT_DELAY_MS = 100
/** An event is suspected of killing its worker after so many losses in a row: one crash makes nobody a suspect. */
const SUSPECT_LOSSES = 2
/** No claims so long after a suspect has begun: what is claimed while it kills its worker is lost with it. */
const SUSPECT_ALONE_MS = 1_000
/** How long attempts that a stop has aborted may take to be handed back. */
const ABORTED_MS = 2_000

export function createProcessor<Tx>(
  given: Omit<AttemptParts<Tx>, 'settleOne'> & {
    /** Told what an attempt of this process came to. */
    readonly settled?: (event: ClaimedEvent, result: Result) => void
  },
  options: ProcessingOptions = {},
): Processor {
  const { concurrency = 16, leaseMs = 30_000, pollMs = 1_000 } = options
  const worker = options.worker ?? `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
  for (const [name, value] of Object.entries({ concurrency, leaseMs, pollMs })) {
    if (!Number.isInteger(value) || value < 1)
      throw invalid(`processing.${name}`, `must be a whole number above 0, not ${value}`)
  }
  const { store, log, handlers, sources, counters } = given
  const codeOf = (error: unknown) => countStoreError(counters, error)
  const bufferSize = () => options.buffer ?? 2 * Math.max(concurrency, handlers.largestBatch())
  const parts: AttemptParts<Tx> = {
    ...given,
    settleOne: gather((items: readonly Settlement[]) => store.settle(items), { maxUnderWay: 2 }),
  }
  const inCall: AttemptParts<Tx> = { ...parts, inCall: true }
  /** By token: an event that was lost and claimed again here is held twice until its first attempt ends. */
  const held = new Map<string, Held<Tx>>()
  const waiting: ClaimedEvent[] = []
  const whenQuiet: (() => void)[] = []
  let active = 0
  let running = false
  let stopping = false
  /** The deadline of a stop is over: what still begins is aborted at once. */
  let expired = false
  let looping: Promise<void> | null = null
  let beat: NodeJS.Timeout | undefined
  let unsubscribe: (() => Promise<void>) | undefined
  let nudge: (() => void) | null = null
  let nudged = false
  /** The token of the suspect that is held; see `withOneSuspect`. */
  let suspect = ''
  let suspectSince = 0

  const claimable = () => [...sources.keys()].filter((source) => !handlers.pausedSources.has(source))

  function wake(): void {
    nudged = true
    nudge?.()
  }

  /** Until woken, or until it is time to look anyway. */
  async function rest(ms: number): Promise<void> {
    if (!nudged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2))
        nudge = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    nudge = null
    nudged = false
  }

  async function loop(): Promise<void> {
    let failures = 0
    while (running) {
      const buffer = bufferSize()
      const room = concurrency + buffer - held.size
      // A few free places are not worth a claim of their own while there is still work in the buffer.
      if (room >= Math.max(1, buffer / 2) || waiting.length === 0) {
        try {
          const found = room > 0 ? await claim(Math.min(room, 1_000)) : 0
          failures = 0
          if (found === room && room > 0) continue
        } catch (error) {
          failures++
          log.error({ step: 'claim', code: codeOf(error) }, 'could not claim; trying again')
        }
      }
      if (running) await rest(failures > 0 ? Math.min(10_000, 200 * 2 ** failures) : pollMs)
    }
  }

  async function claim(limit: number, suspectDelayMs = SUSPECT_DELAY_MS): Promise<number> {
    const names = claimable()
    if (stopping || handlers.all.length === 0 || names.length === 0) return 0
    if (held.has(suspect) && performance.now() - suspectSince < SUSPECT_ALONE_MS) return 0
    const until = performance.now() + leaseMs
    const claimed = await store.claim({ worker, limit, leaseMs, sources: names })
    if (stopping) {
      await store.release(claimed.map((one) => one.lease)).catch(() => {}) // their leases run out by themselves
      return 0
    }
    const kept = await withOneSuspect(claimed, suspectDelayMs)
    for (const one of kept) {
      held.set(one.lease.token, { claimed: one, session: null, until })
      waiting.push(one)
    }
    pump()
    return kept.length
  }

  /**
   * An event whose last workers died may be what killed them, so only one such event is held at a time. Held together,
   * one that kills its worker each time would use up the attempts of the others.
   */
  async function withOneSuspect(
    claimed: readonly ClaimedEvent[],
    delayMs: number,
  ): Promise<readonly ClaimedEvent[]> {
    const suspects = claimed.filter(isSuspect)
    if (suspects.length === 0) return claimed
    const next = held.has(suspect) ? undefined : suspects[0]
    if (next) {
      suspect = next.lease.token
      suspectSince = performance.now()
    }
    const back = new Set(suspects.filter((one) => one !== next))
    if (back.size === 0) return claimed
    await store
      .release(
        [...back].map((one) => one.lease),
        delayMs,
      )
      .catch(() => {}) // their leases expire
    if (running) setTimeout(wake, delayMs + 1).unref()
    return claimed.filter((one) => !back.has(one))
  }

  /** Also an event whose last attempt this is: lost once more, it would be a dead letter. */
  function isSuspect({ source, eventType, losses, tries }: ClaimedEvent): boolean {
    if (losses === 0) return false
    const handler = handlers.resolve(source, eventType)
    if (!handler || tries > handler.retry.maxAttempts) return false // no handler will run
    return losses >= SUSPECT_LOSSES || tries === handler.retry.maxAttempts
  }

  /** A retry that is due before the next poll is not left to it. */
  function wakeFor(result: unknown): void {
    const { retryInMs, delayMs } = (result ?? {}) as { retryInMs?: number | null; delayMs?: number }
    const dueInMs = retryInMs ?? delayMs
    if (running && dueInMs !== undefined && dueInMs < 60_000) setTimeout(wake, dueInMs + 1).unref()
  }

  /**
   * Starts what may start. What is paused goes back; so do events of a handler that is full, but for as many as it will
   * take next, so that they do not keep the buffer from those of another.
   */
  function pump(): void {
    const ahead = new Map<Registered<Tx>, number>()
    const back = new Map<number, Lease[]>()
    const giveBack = (index: number, delayMs: number): void => {
      const { lease } = waiting.splice(index, 1)[0]!
      held.delete(lease.token)
      const leases = back.get(delayMs) ?? []
      leases.push(lease)
      back.set(delayMs, leases)
    }
    for (let i = 0; i < waiting.length && active < concurrency && !stopping; ) {
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
        void track(handler, takeBatch(handler, i), (own, onSession) =>
          attemptBatch(parts, handler, own, onSession),
        )
      } else {
        waiting.splice(i, 1)
        void track(handler, [one], (own, onSession) => attempt(parts, own[0]!, onSession))
      }
    }
    for (const [delayMs, leases] of back) store.release(leases, delayMs).catch(() => {}) // the leases expire
  }

  /** Groups that are kept: the next two, because a claim brings more than one of them. */
  function keptAhead(handler: Registered<Tx>, most: number): number {
    return most * (handler.handleBatch ? 2 * groupSize(handler) : 1)
  }

  function takeBatch(handler: Registered<Tx>, from: number): ClaimedEvent[] {
    const most = groupSize(handler)
    const taken: ClaimedEvent[] = []
    for (let i = from; i < waiting.length && taken.length < most; ) {
      const one = waiting[i]!
      if (handlers.resolve(one.source, one.eventType) === handler) taken.push(...waiting.splice(i, 1))
      else i++
    }
    return taken
  }

  async function track<R>(
    handler: Registered<Tx> | null,
    own: readonly ClaimedEvent[],
    run: (own: readonly ClaimedEvent[], onSession: (session: Session<Tx>) => void) => Promise<R>,
  ): Promise<R | undefined> {
    active++
    if (handler) handler.active++
    try {
      const result = await run(own, (session) => {
        for (const one of session.claimed) {
          const entry = held.get(one.lease.token)
          if (entry) entry.session = session
        }
        if (expired) session.abort(new Stopping('the process is stopping'))
      })
      for (const [i, one] of [result].flat().entries()) {
        wakeFor(one)
        given.settled?.(own[i]!, one as Result)
      }
      return result
    } catch (error) {
      // The store could not be told. The lease runs out, and the event is tried again.
      log.error(
        {
          source: own[0]!.source,
          eventId: own[0]!.eventId,
          step: 'settle',
          code: codeOf(error),
        },
        'outcome not written',
      )
      return undefined
    } finally {
      active--
      if (handler) handler.active--
      for (const one of own) held.delete(one.lease.token)
      pump()
      if (running && waiting.length <= bufferSize() / 2) wake()
      if (active === 0) for (const resolve of whenQuiet.splice(0)) resolve()
    }
  }

  /** Extends every lease; one that is dead, or that nobody could extend in time, ends its attempt. */
  async function heartbeat(): Promise<void> {
    const entries = [...held.values()]
    if (entries.length === 0) return
    const askedAt = performance.now()
    try {
      const alive = await store.extend(
        entries.map((entry) => entry.claimed.lease),
        leaseMs,
      )
      entries.forEach((entry, i) => {
        if (alive[i]) entry.until = askedAt + leaseMs
        else if (held.has(entry.claimed.lease.token)) lose(entry)
      })
    } catch (error) {
      log.warn({ step: 'claim', code: codeOf(error) }, 'could not extend leases; trying again')
      for (const entry of entries) if (entry.until < performance.now()) lose(entry)
    }
  }

  function lose(entry: Held<Tx>): void {
    if (entry.session) {
      entry.session.abort(leaseLost(entry.claimed))
      return
    }
    counters.of(entry.claimed.source).leasesLost++
    const at = waiting.indexOf(entry.claimed)
    if (at >= 0) waiting.splice(at, 1)
    held.delete(entry.claimed.lease.token)
  }

  /** Leases are kept alive whenever something is held, also by `drain` and `one`. */
  function keepAlive(): void {
    if (beat) return
    beat = setInterval(
      () => {
        if (!running && held.size === 0) {
          clearInterval(beat)
          beat = undefined
        } else void heartbeat()
      },
      Math.max(10, leaseMs / 3),
    )
    beat.unref()
  }

  /** Resolves when no attempt runs. */
  function quiet(): Promise<void> {
    return active === 0 ? Promise.resolve() : new Promise((resolve) => whenQuiet.push(resolve))
  }

  return {
    wake,
    async start() {
      if (running) return
      running = true
      stopping = false
      expired = false
      keepAlive()
      unsubscribe = await store.subscribe(wake).catch((error: unknown) => {
        log.warn({ step: 'claim', code: codeOf(error) }, 'no wake-ups from other processes; polling only')
        return undefined
      })
      looping = loop()
    },
    async stop(deadlineMs = 10_000) {
      running = false
      stopping = true
      wake()
      const left = countDown(deadlineMs)
      await atMost(left(), looping)
      await atMost(left(), unsubscribe?.())
      const unstarted = waiting.splice(0)
      for (const one of unstarted) held.delete(one.lease.token)
      if (unstarted.length > 0) await atMost(left(), store.release(unstarted.map((one) => one.lease)))
      const timer = setTimeout(() => {
        expired = true
        for (const { session } of held.values()) session?.abort(new Stopping('the process is stopping'))
      }, left())
      // Outcomes of what was aborted are still written, if the store takes them; else their leases run out.
      await atMost(left() + ABORTED_MS, quiet())
      clearTimeout(timer)
      clearInterval(beat)
      beat = undefined
    },
    async drain() {
      let done = 0
      keepAlive()
      for (;;) {
        const found = await claim(concurrency, 0)
        await quiet()
        if (found === 0) return done
        done += found
      }
    },
    async one(key) {
      const [claimed] = await store.claim({ worker, limit: 1, leaseMs, event: key })
      if (!claimed) return null
      held.set(claimed.lease.token, { claimed, session: null, until: performance.now() + leaseMs })
      keepAlive()
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
  }
}
