/**
 * The claim loop: claims due events for `dispatch.ts`, which runs them, under the leases of `leases.ts`. It is woken by the
 * intake of this process and by other processes where the store can notify; it also polls, so a lost notification only
 * delays an event. A processor is
 *
 *   idle       not started. `drain` and `processEvent` work;
 *   running    it claims, and dispatch starts what is claimed;
 *   stopping   it claims nothing, releases events that have not begun, and waits for those that run. It stays so until it
 *              is started again.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import { type Duration, msOf } from '../duration.js'
import type { ErrorCode } from '../errors.js'
import { type ClaimedEvent, type EventKey, limits } from '../model.js'
import { checkOptions, duration, MAX_TIMER_MS, type Rule, shape, text, whole } from '../options.js'
import { BufferSize } from './buffer-size.js'
import { Dispatch, type DispatchDeps } from './dispatch.js'
import { Elsewhere } from './elsewhere.js'
import { retryRule } from './failure.js'
import { Leases } from './leases.js'
import { unhandledNotice } from './report.js'
import type { Result } from './result.js'
import { OutcomeWriter } from './settle.js'
import { Suspects } from './suspects.js'

export const DEFAULT_CONCURRENCY = 16

export interface ProcessingOptions {
  /**
   * Attempts at the same time, in this process. Attempts that run for more than a second lend places to other handlers; more
   * run then. Default 16.
   */
  readonly concurrency?: number
  /** Time without a heartbeat after which a lease expires. Default `'30s'`; there are three heartbeats in that time. */
  readonly lease?: Duration
  /** Longest wait between two looks for due events. Default `'1s'`. */
  readonly poll?: Duration
  /** Name of this worker in the attempts. Default: host, process and random characters. */
  readonly worker?: string
}

export const processingRule = shape({
  concurrency: whole(1),
  lease: duration(1, limits.leaseMs),
  poll: duration(1, MAX_TIMER_MS),
  worker: text,
  /** The defaults of `inbox.on`. */
  retry: retryRule,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

export type ProcessorDeps<Tx> = Omit<DispatchDeps<Tx>, 'outcomes' | 'leases' | 'measured' | 'onRoom'>

interface Claimed {
  /** Events that were claimed, without suspects that must wait. */
  readonly found: number
  /** Those of them that run here; the others are left to other processes. */
  readonly attempts: number
}

const nothing: Claimed = { found: 0, attempts: 0 }

export function workerName(): string {
  return `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
}

const SUSPECT_DELAY_MS = 100
const ELSEWHERE_DELAY_MS = 100
/** How long aborted attempts may take to be released when the processor stops. */
const ABORTED_MS = 2_000
/** A retry that is due within this time wakes the loop. */
const WAKE_WITHIN_MS = 60_000
/** After a claim of fewer events than this, the loop rests as long as the claim took, so that the next one finds more. */
const FEW_EVENTS = 8
const MAX_REST_MS = 20
const MAX_CLAIM = 1_000
/**
 * How often, and how far, the claim looks behind the backlog of a handler that can take no more events. Those that it finds
 * of this handler are released, so it does not look all the time.
 */
const LOOK_MS = 250
const LOOK_EVENTS = 500

export class Processor<Tx> {
  readonly #deps: ProcessorDeps<Tx>
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #pollMs: number
  readonly #worker: string
  readonly #leases: Leases<Tx>
  readonly #dispatch: Dispatch<Tx>
  readonly #suspects: Suspects<Tx>
  readonly #elsewhere: Elsewhere<Tx>
  readonly #measured: BufferSize
  readonly #noteUnhandled: (event: ClaimedEvent) => void
  readonly #pause = new Pause()
  #state: 'idle' | 'running' | 'stopping' = 'idle'
  #looping: Promise<void> | null = null
  #unsubscribe: (() => Promise<void>) | undefined
  #failures = 0
  #lookedAt = 0

  constructor(deps: ProcessorDeps<Tx>, options: ProcessingOptions = {}) {
    checkOptions('processing', options, processingRule)
    const { store, registry, sources } = deps
    this.#deps = deps
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY
    this.#leaseMs = msOf(options.lease, '30s')
    this.#pollMs = msOf(options.poll, '1s')
    this.#worker = options.worker ?? workerName()
    this.#measured = new BufferSize(this.#leaseMs)
    this.#leases = new Leases(deps, this.#leaseMs, (claimed) => this.#dispatch.remove(claimed))
    this.#dispatch = new Dispatch(
      {
        ...deps,
        outcomes: new OutcomeWriter(store),
        leases: this.#leases,
        measured: this.#measured,
        onRoom: () => this.wake(),
        onSettled: (event, result) => this.#settled(event, result),
      },
      this.#concurrency,
    )
    this.#suspects = new Suspects(registry, this.#leases)
    this.#elsewhere = new Elsewhere(store, sources)
    this.#noteUnhandled = unhandledNotice(deps)
  }

  async start(): Promise<void> {
    if (this.#state === 'running') return
    this.#state = 'running'
    this.#dispatch.start()
    this.#leases.allowSessions()
    this.#unsubscribe = await this.#deps.store
      .subscribe(() => this.wake())
      .catch((error: unknown) => {
        this.#deps.log.warn(
          { step: 'claim', code: this.#codeOf(error) },
          'no notifications from other processes; only polling',
        )
        return undefined
      })
    this.#looping = this.#loop()
  }

  wake(): void {
    this.#pause.end()
  }

  /** Stops claiming and finishes running attempts. Aborts and releases those that still run after `deadlineMs`. */
  async stop(deadlineMs = 10_000): Promise<void> {
    this.#state = 'stopping'
    const left = countDown(deadlineMs)
    const released = this.#dispatch.stop()
    this.#pause.end()
    await atMost(left(), this.#looping)
    await atMost(left(), this.#unsubscribe?.())
    const timer = setTimeout(() => this.#leases.abortAll(), left())
    // Results of aborted attempts are still written and what was claimed late is released, if the store accepts it;
    // otherwise their leases expire.
    await atMost(left() + ABORTED_MS, Promise.all([this.#dispatch.idle(), this.#looping, released]))
    clearTimeout(timer)
    this.#leases.endHeartbeat()
  }

  /** Runs due events until there are none. Resolves to the number of attempts. */
  async drain(): Promise<number> {
    const limit = Math.max(this.#concurrency, this.#deps.registry.largestGroup)
    return this.#dispatch.withoutRelease(async () => {
      for (let attempts = 0; ; ) {
        const claimed = await this.#claim(limit, this.#unpaused(), 0)
        await this.#dispatch.idle()
        if (claimed.found === 0) return attempts
        attempts += claimed.attempts
      }
    })
  }

  /**
   * Runs this event now, due or not. Null: there is no such event, it has finished, or another worker has it. `postponed`:
   * the handler asked for it, the event is paused here, or it is left to other processes.
   */
  async processEvent(key: EventKey): Promise<Result | null> {
    const { store, registry } = this.#deps
    const askedAt = performance.now()
    const [claimed] = await store.claim({
      worker: this.#worker,
      limit: 1,
      leaseMs: this.#leaseMs,
      event: key,
    })
    if (!claimed) return null
    if (!registry.sources().includes(key.source) || registry.isPaused(claimed)) {
      await this.#dispatch.release([claimed])
      return { kind: 'postponed', delayMs: 0 }
    }
    this.#leases.add(claimed, askedAt)
    if (!registry.has(claimed) && (await this.#leaveToOthers([claimed], askedAt)).length === 0)
      return { kind: 'postponed', delayMs: 0 }
    return this.#dispatch.runNow(claimed)
  }

  async #loop(): Promise<void> {
    while (this.#state === 'running') {
      this.#dispatch.startReady()
      const { free, behind } = this.#claimable()
      if (await this.#claimForRoom(free, behind)) continue
      const pollMs = behind.length > 0 ? Math.min(this.#pollMs, LOOK_MS) : this.#pollMs
      if (this.#state !== 'running') return
      await this.#pause.begin(this.#failures > 0 ? Math.min(10_000, 200 * 2 ** this.#failures) : pollMs)
    }
  }

  /** Claims as many events as there is room for. True when there are probably more. */
  async #claimForRoom(free: readonly string[], behind: readonly string[]): Promise<boolean> {
    const { bufferSize, freePlaces, waiting } = this.#dispatch
    const room = bufferSize + freePlaces - waiting
    // While the buffer still has events, a claim for a few free places is not worth a round trip.
    if (room <= 0 || (room < bufferSize / 2 && waiting > 0)) return false
    const askedAt = performance.now()
    const looks = behind.length > 0 && askedAt - this.#lookedAt >= LOOK_MS
    if (looks) this.#lookedAt = askedAt
    const limit = Math.min(looks ? Math.max(room, LOOK_EVENTS) : room, MAX_CLAIM)
    try {
      const { found } = await this.#claim(limit, looks ? [...free, ...behind] : free)
      this.#failures = 0
      if (found === limit) return true
      if (found < FEW_EVENTS && this.#dispatch.freePlaces < this.#concurrency && !this.#isOrdered())
        await rest(Math.min(MAX_REST_MS, performance.now() - askedAt))
    } catch (error) {
      this.#failures++
      this.#deps.log.error(
        { step: 'claim', code: this.#codeOf(error) },
        'due events could not be claimed; trying again',
      )
    }
    return false
  }

  /**
   * The sources to claim from. `behind`: one of its handlers has as many events as it can take, and the events of the others
   * may be behind a backlog of it. A source whose handlers all have enough is left out.
   */
  #claimable(): { readonly free: readonly string[]; readonly behind: readonly string[] } {
    const { registry } = this.#deps
    const full = new Set(registry.all.filter((handler) => this.#dispatch.isAside(handler)))
    const names = this.#unpaused()
    if (full.size === 0) return { free: names, behind: [] }
    const fullOf = (name: string) => registry.ofSource(name).filter((handler) => full.has(handler)).length
    return {
      free: names.filter((name) => fullOf(name) === 0),
      behind: names.filter((name) => fullOf(name) > 0 && fullOf(name) < registry.ofSource(name).length),
    }
  }

  #unpaused(): readonly string[] {
    const { registry } = this.#deps
    return registry.sources().filter((source) => !registry.pausedSources.has(source))
  }

  /** The end of an event makes the next one of its lane due, which must not wait. */
  #isOrdered(): boolean {
    const { registry, sources } = this.#deps
    return (
      registry.all.some(({ options }) => options.order === 'reference') ||
      [...sources.values()].some(({ order }) => order === 'reference')
    )
  }

  async #claim(
    limit: number,
    sources: readonly string[],
    suspectDelayMs = SUSPECT_DELAY_MS,
  ): Promise<Claimed> {
    const { store, registry } = this.#deps
    if (this.#isStopping() || sources.length === 0 || this.#suspects.pauseClaims) return nothing
    const askedAt = performance.now()
    const except = this.#elsewhere.types().filter((type) => !registry.has(type))
    const request = { worker: this.#worker, limit, leaseMs: this.#leaseMs, sources }
    const claimed = await store.claim(except.length > 0 ? { ...request, except } : request)
    const { toRun, toRelease } = this.#suspects.sort(claimed.filter((event) => registry.has(event)))
    if (toRelease.length > 0) {
      // Before the first of them begins, which may kill this process.
      await this.#dispatch.release(toRelease, suspectDelayMs)
      this.#wakeIn(suspectDelayMs)
    }
    if (this.#isStopping()) {
      await this.#dispatch.release(claimed)
      return nothing
    }
    this.#measured.claimed(claimed)
    for (const event of toRun) this.#leases.add(event, askedAt)
    this.#dispatch.add(toRun)
    this.#dispatch.startReady()
    const unhandled = claimed.filter((event) => !registry.has(event))
    const nowhere = unhandled.length === 0 ? [] : await this.#leaveToOthers(unhandled, askedAt)
    this.#dispatch.add(nowhere)
    this.#dispatch.startReady()
    return { found: claimed.length - toRelease.length, attempts: toRun.length + nowhere.length }
  }

  /** Releases the events that another process handles. Returns those that no live process handles. */
  async #leaveToOthers(
    unhandled: readonly ClaimedEvent[],
    askedAt: number,
  ): Promise<readonly ClaimedEvent[]> {
    for (const event of unhandled) this.#leases.add(event, askedAt)
    const found = await this.#elsewhere.sort(unhandled).catch((error: unknown) => {
      this.#deps.log.error(
        { step: 'claim', code: this.#codeOf(error) },
        'cannot read what other processes handle; trying again',
      )
      return { elsewhere: unhandled, nowhere: [] }
    })
    const isStopping = this.#isStopping()
    const released = isStopping ? unhandled : found.elsewhere
    await this.#dispatch.release(released, isStopping ? 0 : ELSEWHERE_DELAY_MS)
    return isStopping ? [] : found.nowhere.filter(({ lease }) => this.#leases.has(lease.token))
  }

  #settled(event: ClaimedEvent, result: Result): void {
    const dueInMs = dueIn(result)
    if (dueInMs !== null && dueInMs < WAKE_WITHIN_MS) this.#wakeIn(dueInMs)
    if (result.kind === 'ignored' && result.reason === 'unhandled') this.#noteUnhandled(event)
    this.#deps.onSettled(event, result)
  }

  #wakeIn(ms: number): void {
    if (this.#state === 'running') setTimeout(() => this.wake(), ms + 1).unref()
  }

  /** Read again after each wait: a stop may have come in between. */
  #isStopping(): boolean {
    return this.#state === 'stopping'
  }

  #codeOf(error: unknown): ErrorCode {
    return countStoreError(this.#deps.counters, error)
  }
}

function dueIn(result: Result): number | null {
  if (result.kind === 'failed') return result.retryInMs
  return result.kind === 'postponed' ? result.delayMs : null
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The pause between two claims. `end` also ends the next pause, if none has begun: a wake-up is never missed. */
class Pause {
  #isEnded = false
  #resume: (() => void) | null = null

  /** With jitter, so that processes that started together do not poll together. */
  async begin(ms: number): Promise<void> {
    if (!this.#isEnded) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2))
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#resume = null
    this.#isEnded = false
  }

  end(): void {
    this.#isEnded = true
    this.#resume?.()
  }
}
