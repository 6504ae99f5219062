/**
 * The claim loop: claims due events for `dispatch.ts`, which runs them, under the leases of `leases.ts`. It is woken by the
 * intake of this process and by other processes where the store can notify; it also polls, so a lost notification only
 * delays an event. When it stops, it releases events that have not begun.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, EventKey } from '../model.js'
import { checkOptions, type Rule, shape, text, whole } from '../options.js'
import type { AttemptDeps } from './attempt.js'
import { createBufferSize } from './buffer-size.js'
import { createDispatch } from './dispatch.js'
import { retryRule } from './failure.js'
import type { Result } from './handle.js'
import { createLeases, type Leases } from './leases.js'
import { batchedSettle } from './settle.js'
import { createSuspects } from './suspects.js'

export interface ProcessingOptions {
  /** Attempts at the same time, in this process. Default 16. */
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
  /** Runs this event now, due or not. Null: there is no such event, it has finished, or another worker has it. */
  processEvent(key: EventKey): Promise<Result | null>
}

/** The default name of a worker: host, process and random characters. */
export function workerName(): string {
  return `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
}

/** Delay before a released suspect becomes due again. */
const SUSPECT_DELAY_MS = 100
/** How long aborted attempts may take to be released when the processor stops. */
const ABORTED_MS = 2_000
/** A retry that is due within this time wakes the loop. */
const WAKE_WITHIN_MS = 60_000
/** After a claim of fewer events than this, the loop rests as long as the claim took, so that the next one finds more. */
const FEW_EVENTS = 8
const MAX_REST_MS = 20

export function createProcessor<Tx>(deps: ProcessorDeps<Tx>, options: ProcessingOptions = {}): Processor {
  checkOptions('processing', options, processingRule)
  const { concurrency = 16, leaseMs = 30_000, pollMs = 1_000 } = options
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
      onSettled(event, result) {
        measured.finished()
        const dueInMs = dueIn(result)
        if (dueInMs !== null && dueInMs < WAKE_WITHIN_MS) wakeIn(dueInMs)
        deps.onSettled?.(event, result)
      },
      onFreePlace() {
        if (running && dispatch.waiting <= bufferSize() / 2) pause.end()
      },
    },
  )
  const suspects = createSuspects(handlers, leases.has)

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
    while (running) {
      dispatch.review()
      const buffer = bufferSize()
      const room = buffer + dispatch.freePlaces - dispatch.waiting
      // While the buffer still has events, a claim for a few free places is not worth a round trip.
      if (room >= Math.max(1, buffer / 2) || dispatch.waiting === 0) {
        const askedAt = performance.now()
        try {
          const found = room > 0 ? await claim(Math.min(room, 1_000)) : 0
          failures = 0
          if (found === room && room > 0) continue
          if (found < FEW_EVENTS && dispatch.freePlaces < concurrency && !isOrdered())
            await rest(Math.min(MAX_REST_MS, performance.now() - askedAt))
        } catch (error) {
          failures++
          log.error({ step: 'claim', code: codeOf(error) }, 'due events could not be claimed; trying again')
        }
      }
      if (running) await pause.begin(failures > 0 ? Math.min(10_000, 200 * 2 ** failures) : pollMs)
    }
  }

  async function claim(limit: number, suspectDelayMs = SUSPECT_DELAY_MS): Promise<number> {
    const names = [...sources.keys()].filter((source) => !handlers.pausedSources.has(source))
    if (stopping || handlers.all.length === 0 || names.length === 0 || suspects.pauseClaims()) return 0
    const askedAt = performance.now()
    const claimed = await store.claim({ worker, limit, leaseMs, sources: names })
    if (stopping) {
      await release(claimed)
      return 0
    }
    const { toRun, toRelease } = suspects.sort(claimed)
    if (toRelease.length > 0) {
      await release(toRelease, suspectDelayMs)
      wakeIn(suspectDelayMs)
    }
    measured.claimed(claimed)
    for (const event of toRun) leases.add(event, askedAt)
    dispatch.add(toRun)
    return toRun.length
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
      await atMost(left(), released)
      const timer = setTimeout(dispatch.abortAll, left())
      // Results of aborted attempts are still written, if the store accepts them; otherwise their leases expire.
      await atMost(left() + ABORTED_MS, dispatch.idle())
      clearTimeout(timer)
      leases.end()
    },
    async drain() {
      let attempts = 0
      leases.keepAlive()
      // A released event is due later, and the drain would end without it.
      await dispatch.keepAll(async () => {
        for (;;) {
          const found = await claim(Math.max(concurrency, handlers.largestGroup()), 0)
          await dispatch.idle()
          if (found === 0) return
          attempts += found
        }
      })
      return attempts
    },
    async processEvent(key) {
      const askedAt = performance.now()
      const [claimed] = await store.claim({ worker, limit: 1, leaseMs, event: key })
      if (!claimed) return null
      leases.add(claimed, askedAt)
      leases.keepAlive()
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
