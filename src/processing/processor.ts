/**
 * The claim loop: claims due events for `dispatch.ts`, which runs them, under the leases of `leases.ts`. Woken by this
 * process's own intake, by other processes where the store can tell, and by a jittered poll that always stays. Hands
 * back what has not begun when it stops.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, EventKey } from '../model.js'
import { checkOptions, type Rule, shape, text, whole } from '../options.js'
import type { AttemptDeps } from './attempt.js'
import { createDispatch } from './dispatch.js'
import { retryRule } from './failure.js'
import type { Result } from './handle.js'
import { createLeases, type Leases } from './leases.js'
import { batchedSettle } from './settle.js'
import { createSuspects } from './suspects.js'

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

export const processingRule = shape({
  concurrency: whole(1),
  buffer: whole(0),
  leaseMs: whole(1),
  pollMs: whole(1),
  worker: text,
  /** The defaults of `inbox.on`. */
  retry: retryRule,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

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

/** Delay before a suspect that was given back becomes due again. */
const SUSPECT_DELAY_MS = 100
/** How long attempts that a stop has aborted may take to be handed back. */
const ABORTED_MS = 2_000

export function createProcessor<Tx>(
  given: Omit<AttemptDeps<Tx>, 'settleOne'> & {
    /** Called with the result of each attempt of this process. */
    readonly settled?: (event: ClaimedEvent, result: Result) => void
  },
  options: ProcessingOptions = {},
): Processor {
  checkOptions('processing', options, processingRule)
  const { concurrency = 16, leaseMs = 30_000, pollMs = 1_000 } = options
  const worker = options.worker ?? `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
  const { store, log, handlers, sources, counters } = given
  const codeOf = (error: unknown) => countStoreError(counters, error)
  const bufferSize = () => options.buffer ?? 2 * Math.max(concurrency, handlers.largestBatch())
  const deps: AttemptDeps<Tx> = {
    ...given,
    settleOne: batchedSettle(store),
  }
  let running = false
  let stopping = false
  let looping: Promise<void> | null = null
  let unsubscribe: (() => Promise<void>) | undefined
  let nudge: (() => void) | null = null
  let nudged = false

  const leases: Leases<Tx> = createLeases<Tx>(given, {
    leaseMs,
    isIdle: () => !running,
    lostUnstarted: (claimed) => dispatch.remove(claimed),
  })
  const dispatch = createDispatch<Tx>(deps, {
    concurrency,
    leases,
    settled(event, result) {
      wakeFor(result)
      given.settled?.(event, result)
    },
    freed() {
      if (running && dispatch.waiting <= bufferSize() / 2) wake()
    },
  })
  const suspects = createSuspects(handlers, leases.has)

  function wake(): void {
    nudged = true
    nudge?.()
  }

  /** A retry that is due before the next poll is not left to it. */
  function wakeFor(result: Result): void {
    const { retryInMs, delayMs } = (result ?? {}) as { retryInMs?: number | null; delayMs?: number }
    const dueInMs = retryInMs ?? delayMs
    if (dueInMs !== undefined && dueInMs < 60_000) wakeIn(dueInMs)
  }

  function wakeIn(ms: number): void {
    if (running) setTimeout(wake, ms + 1).unref()
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
      const room = concurrency + buffer - leases.size
      // A few free places are not worth a claim of their own while there is still work in the buffer.
      if (room >= Math.max(1, buffer / 2) || dispatch.waiting === 0) {
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
    const names = [...sources.keys()].filter((source) => !handlers.pausedSources.has(source))
    if (stopping || handlers.all.length === 0 || names.length === 0 || suspects.isAlone()) return 0
    const askedAt = performance.now()
    const claimed = await store.claim({ worker, limit, leaseMs, sources: names })
    if (stopping) {
      await release(claimed)
      return 0
    }
    const { kept, back } = suspects.sort(claimed)
    if (back.length > 0) {
      await release(back, suspectDelayMs)
      wakeIn(suspectDelayMs)
    }
    for (const one of kept) leases.hold(one, askedAt)
    dispatch.add(kept)
    return kept.length
  }

  /** When the store does not take them back, their leases expire. */
  async function release(claimed: readonly ClaimedEvent[], delayMs?: number): Promise<void> {
    const own = claimed.map((one) => one.lease)
    if (own.length > 0) await store.release(own, delayMs).catch(() => {})
  }

  return {
    wake,
    async start() {
      if (running) return
      running = true
      stopping = false
      dispatch.open()
      leases.keepAlive()
      unsubscribe = await store.subscribe(wake).catch((error: unknown) => {
        log.warn({ step: 'claim', code: codeOf(error) }, 'no wake-ups from other processes; polling only')
        return undefined
      })
      looping = loop()
    },
    async stop(deadlineMs = 10_000) {
      running = false
      stopping = true
      const left = countDown(deadlineMs)
      const handedBack = release(dispatch.close())
      wake()
      await atMost(left(), looping)
      await atMost(left(), unsubscribe?.())
      await atMost(left(), handedBack)
      const timer = setTimeout(dispatch.expire, left())
      // Outcomes of what was aborted are still written, if the store takes them; else their leases expire.
      await atMost(left() + ABORTED_MS, dispatch.quiet())
      clearTimeout(timer)
      leases.end()
    },
    async drain() {
      let done = 0
      leases.keepAlive()
      for (;;) {
        const found = await claim(concurrency, 0)
        await dispatch.quiet()
        if (found === 0) return done
        done += found
      }
    },
    async one(key) {
      const askedAt = performance.now()
      const [claimed] = await store.claim({ worker, limit: 1, leaseMs, event: key })
      if (!claimed) return null
      leases.hold(claimed, askedAt)
      leases.keepAlive()
      return dispatch.runNow(claimed)
    },
  }
}
