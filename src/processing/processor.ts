/**
 * The claim loop: claims due events for `dispatch.ts`, which runs them, under the leases of `leases.ts`. It is woken by the
 * intake of this process and by other processes where the store can notify; it also polls, so a lost notification only
 * delays an event. When it stops, it releases events that have not begun.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, EventKey, EventTypeKey } from '../model.js'
import { checkOptions, type Rule, shape, text, whole } from '../options.js'
import type { AttemptDeps } from './attempt.js'
import { createBufferSize } from './buffer-size.js'
import { createDispatch } from './dispatch.js'
import { createElsewhere } from './elsewhere.js'
import { retryRule } from './failure.js'
import type { Result } from './handle.js'
import { createLeases, type Leases } from './leases.js'
import { batchedSettle } from './settle.js'
import { createSuspects } from './suspects.js'
import { unhandledNotice } from './unhandled.js'

export const DEFAULT_CONCURRENCY = 16

export interface ProcessingOptions {
  /**
   * Attempts at the same time, in this process. Attempts that run for more than a second lend places to other handlers; more
   * run then. Default 16.
   */
  readonly concurrency?: number
  /**
   * Events claimed ahead of the attempts. By default as many as the handlers finish in half a second (500 at most, and at
   * most a twentieth of the lease), and at least twice the concurrency or the largest group.
   */
  readonly buffer?: number
  /** Time without a heartbeat after which a lease expires. Default 30,000; there are three heartbeats in that time. */
  readonly leaseMs?: number
  /** Longest wait between two looks for due events. Default 1,000. */
  readonly pollMs?: number
  /** Name of this worker in the attempts. Default: host, process and random characters. */
  readonly worker?: string
}

export const processingRule = shape({
  concurrency: whole(1),
  buffer: whole(0),
  leaseMs: whole(1),
  pollMs: whole(1),
  worker: text,
  /** The defaults of `inbox.on`. */
  retry: retryRule,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

export interface ProcessorDeps<Tx> extends Omit<AttemptDeps<Tx>, 'settleOne'> {
  /** Called with the result of each attempt of this process. */
  readonly onSettled?: (event: ClaimedEvent, result: Result) => void
}

export interface Processor {
  start(): Promise<void>
  /** Looks for due events now. */
  wake(): void
  /** Stops claiming and finishes running attempts. Aborts and releases those that still run after `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>
  /** Runs due events until there are none. Resolves to the number of attempts. */
  drain(): Promise<number>
  /**
   * Runs this event now, due or not. Null: there is no such event, it has finished, or another worker has it. `postponed`:
   * also when it is paused here, or left to other processes.
   */
  processEvent(key: EventKey): Promise<Result | null>
}

interface Claimed {
  /** Events that were claimed, without suspects that must wait. */
  readonly found: number
  /** Those of them that run here; the others are left to other processes. */
  readonly attempts: number
}

const nothing: Claimed = { found: 0, attempts: 0 }

/** The default name of a worker: host, process and random characters. */
export function workerName(): string {
  return `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
}

/** Delay before a released suspect becomes due again. */
const SUSPECT_DELAY_MS = 100
/** Delay before an event that other processes handle becomes due again. */
const ELSEWHERE_DELAY_MS = 100
/** How long aborted attempts may take to be released when the processor stops. */
const ABORTED_MS = 2_000
/** A retry that is due within this time wakes the loop. */
const WAKE_WITHIN_MS = 60_000
/** After a claim of fewer events than this, the loop rests as long as the claim took, so that the next one finds more. */
const FEW_EVENTS = 8
const MAX_REST_MS = 20
/**
 * How often, and how far, the claim looks behind the backlog of a handler that can take no more events. Those that it finds
 * of this handler are released, so it does not look all the time.
 */
const LOOK_MS = 250
const LOOK_EVENTS = 500

export function createProcessor<Tx>(deps: ProcessorDeps<Tx>, options: ProcessingOptions = {}): Processor {
  checkOptions('processing', options, processingRule)
  const { concurrency = DEFAULT_CONCURRENCY, leaseMs = 30_000, pollMs = 1_000 } = options
  const worker = options.worker ?? workerName()
  const { store, log, handlers, sources, counters } = deps
  const codeOf = (error: unknown) => countStoreError(counters, error)
  const measured = createBufferSize(leaseMs)
  const bufferSize = () => options.buffer ?? measured.now(2 * Math.max(concurrency, handlers.largestGroup()))
  const pause = createPause()
  let running = false
  let stopping = false
  let looping: Promise<void> | null = null
  let unsubscribe: (() => Promise<void>) | undefined

  const leases: Leases<Tx> = createLeases<Tx>(deps, {
    leaseMs,
    isIdle: () => !running,
    onLostInBuffer: (claimed) => dispatch.remove(claimed),
  })
  const dispatch = createDispatch<Tx>(
    { ...deps, settleOne: batchedSettle(store) },
    {
      concurrency,
      leases,
      bufferSize,
      onSettled(event, result) {
        measured.finished()
        const dueInMs = dueIn(result)
        if (dueInMs !== null && dueInMs < WAKE_WITHIN_MS) wakeIn(dueInMs)
        if (result.kind === 'ignored' && result.reason === 'unhandled') noteUnhandled(event)
        deps.onSettled?.(event, result)
      },
      onFreePlace() {
        if (running && dispatch.waiting <= bufferSize() / 2) pause.end()
      },
    },
  )
  const suspects = createSuspects(handlers, leases.has)
  const elsewhere = createElsewhere(store, sources)
  const noteUnhandled = unhandledNotice({ log, counters })
  const hasHandler = ({ source, eventType }: EventTypeKey) => handlers.resolve(source, eventType) !== null

  /** The end of an event makes the next one of its lane due, which must not wait. */
  function isOrdered(): boolean {
    return (
      handlers.all.some(({ options: own }) => own.order === 'reference') ||
      [...sources.values()].some(({ order }) => order === 'reference')
    )
  }

  function wakeIn(ms: number): void {
    if (running) setTimeout(pause.end, ms + 1).unref()
  }

  async function loop(): Promise<void> {
    let failures = 0
    let lookedAt = 0
    while (running) {
      dispatch.review()
      const { open, behind } = claimable()
      const looks = behind.length > 0 && performance.now() - lookedAt >= LOOK_MS
      const buffer = bufferSize()
      const room = buffer + dispatch.freePlaces - dispatch.waiting
      const limit = Math.min(looks ? Math.max(room, LOOK_EVENTS) : room, 1_000)
      const wanted = looks ? [...open, ...behind] : open
      // While the buffer still has events, a claim for a few free places is not worth a round trip.
      if (room >= Math.max(1, buffer / 2) || dispatch.waiting === 0) {
        const askedAt = performance.now()
        if (looks) lookedAt = askedAt
        try {
          const { found } = room > 0 ? await claim(limit, wanted) : nothing
          failures = 0
          if (found === limit && room > 0) continue
          if (found < FEW_EVENTS && dispatch.freePlaces < concurrency && !isOrdered())
            await rest(Math.min(MAX_REST_MS, performance.now() - askedAt))
        } catch (error) {
          failures++
          log.error({ step: 'claim', code: codeOf(error) }, 'due events could not be claimed; trying again')
        }
      }
      const pollNowMs = behind.length > 0 ? Math.min(pollMs, LOOK_MS) : pollMs
      if (running) await pause.begin(failures > 0 ? Math.min(10_000, 200 * 2 ** failures) : pollNowMs)
    }
  }

  function unpaused(): string[] {
    return handlers.sources().filter((source) => !handlers.pausedSources.has(source))
  }

  /**
   * The sources to claim from. `behind`: one of its handlers has as many events as it can take, and the events of the others
   * may be behind a backlog of it. A source whose handlers all have enough is left out.
   */
  function claimable(): { readonly open: string[]; readonly behind: string[] } {
    const full = new Set(handlers.all.filter(dispatch.isAside))
    if (full.size === 0) return { open: unpaused(), behind: [] }
    const ofSource = (name: string) => handlers.all.filter(({ source }) => source === name)
    const isFull = (name: string) => ofSource(name).some((handler) => full.has(handler))
    return {
      open: unpaused().filter((name) => !isFull(name)),
      behind: unpaused().filter(
        (name) => isFull(name) && !ofSource(name).every((handler) => full.has(handler)),
      ),
    }
  }

  async function claim(
    limit: number,
    names: readonly string[],
    suspectDelayMs = SUSPECT_DELAY_MS,
  ): Promise<Claimed> {
    if (stopping || names.length === 0 || suspects.pauseClaims()) return nothing
    const askedAt = performance.now()
    const except = elsewhere.types().filter((type) => !hasHandler(type))
    const claimed = await store.claim({
      ...{ worker, limit, leaseMs, sources: names },
      ...(except.length > 0 && { except }),
    })
    if (stopping) {
      await release(claimed)
      return nothing
    }
    const unhandled = claimed.filter((event) => !hasHandler(event))
    const { toRun, toRelease } = suspects.sort(unhandled.length === 0 ? claimed : claimed.filter(hasHandler))
    if (toRelease.length > 0) {
      await release(toRelease, suspectDelayMs)
      wakeIn(suspectDelayMs)
    }
    measured.claimed(claimed)
    for (const event of toRun) leases.add(event, askedAt)
    dispatch.add(toRun)
    const nowhere = unhandled.length === 0 ? [] : await leaveToOthers(unhandled, askedAt)
    dispatch.add(nowhere)
    return { found: claimed.length - toRelease.length, attempts: toRun.length + nowhere.length }
  }

  /** Releases the events that another process handles. Returns those that no live process handles. */
  async function leaveToOthers(
    unhandled: readonly ClaimedEvent[],
    askedAt: number,
  ): Promise<readonly ClaimedEvent[]> {
    for (const event of unhandled) leases.add(event, askedAt)
    const found = await elsewhere.sort(unhandled).catch((error: unknown) => {
      const code = codeOf(error)
      log.error({ step: 'claim', code }, 'cannot read what other processes handle; trying again')
      return { elsewhere: unhandled, nowhere: [] }
    })
    const released = stopping ? unhandled : found.elsewhere
    for (const { lease } of released) leases.drop(lease)
    await release(released, stopping ? 0 : ELSEWHERE_DELAY_MS)
    return stopping ? [] : found.nowhere.filter(({ lease }) => leases.has(lease.token))
  }

  /** Never throws: leases that could not be released expire. */
  async function release(claimed: readonly ClaimedEvent[], delayMs?: number): Promise<void> {
    const released = claimed.map(({ lease }) => lease)
    if (released.length > 0) await store.release(released, delayMs).catch(() => {})
  }

  return {
    wake: pause.end,
    async start() {
      if (running) return
      running = true
      stopping = false
      dispatch.open()
      leases.keepAlive()
      unsubscribe = await store.subscribe(pause.end).catch((error: unknown) => {
        log.warn(
          { step: 'claim', code: codeOf(error) },
          'no notifications from other processes; only polling',
        )
        return undefined
      })
      looping = loop()
    },
    async stop(deadlineMs = 10_000) {
      running = false
      stopping = true
      const left = countDown(deadlineMs)
      const released = release(dispatch.close())
      pause.end()
      await atMost(left(), looping)
      await atMost(left(), unsubscribe?.())
      const timer = setTimeout(dispatch.abortAll, left())
      // Results of aborted attempts are still written and what was claimed late is released, if the store accepts it;
      // otherwise their leases expire.
      await atMost(left() + ABORTED_MS, Promise.all([dispatch.idle(), looping, released]))
      clearTimeout(timer)
      leases.end()
    },
    async drain() {
      let attempts = 0
      leases.keepAlive()
      // A released event is due later, and the drain would end without it.
      await dispatch.keepAll(async () => {
        for (;;) {
          const claimed = await claim(Math.max(concurrency, handlers.largestGroup()), unpaused(), 0)
          await dispatch.idle()
          if (claimed.found === 0) return
          attempts += claimed.attempts
        }
      })
      return attempts
    },
    async processEvent(key) {
      const askedAt = performance.now()
      const [claimed] = await store.claim({ worker, limit: 1, leaseMs, event: key })
      if (!claimed) return null
      if (!handlers.sources().includes(key.source) || handlers.isPaused(claimed)) {
        await release([claimed])
        return { kind: 'postponed', delayMs: 0 }
      }
      leases.add(claimed, askedAt)
      leases.keepAlive()
      if (!hasHandler(claimed) && (await leaveToOthers([claimed], askedAt)).length === 0)
        return { kind: 'postponed', delayMs: 0 }
      return dispatch.runNow(claimed)
    },
  }
}

/** When the event is due again, if it is. */
function dueIn(result: Result): number | null {
  if (result.kind === 'failed') return result.retryInMs
  return result.kind === 'postponed' ? result.delayMs : null
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The pause between two claims. `end` also ends the next pause, if none has begun: a wake-up is never missed. */
function createPause(): { begin(ms: number): Promise<void>; end(): void } {
  let ended = false
  let resume: (() => void) | null = null
  return {
    /** With jitter, so that processes that started together do not poll together. */
    async begin(ms) {
      if (!ended) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2))
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      resume = null
      ended = false
    },
    end() {
      ended = true
      resume?.()
    },
  }
}
