/**
 * The claim loop: claims due events (`claim.ts`) while there is room for them, and `dispatch.ts` runs them under the leases
 * of `leases.ts`. Between two claims it pauses. The intake of this process ends the pause, and so do other processes where
 * the store can notify; it also polls, so a lost notification only delays an event. A processor is
 *
 *   idle       not started. `drain` and `processEvent` work;
 *   running    it claims, and dispatch starts what is claimed;
 *   stopping   it claims nothing, releases events that have not begun, and waits for those that run. It stays so until it
 *              is started again.
 */
import { atMost, countDown } from '../clock.js'
import { countStoreError } from '../counters.js'
import { msOf } from '../duration.js'
import type { ClaimedEvent, EventKey, NewDelivery, RecordVerdict } from '../model.js'
import { checkOptions } from '../options.js'
import type { LogRecorder } from '../recorder.js'
import type { PlacesTaken } from '../store.js'
import { Backlog } from './backlog.js'
import { EventBuffer } from './buffer.js'
import { Claims } from './claim.js'
import { type Claimable, ClaimSources, LOOK_MS } from './claim-sources.js'
import { Dispatch, type DispatchDeps } from './dispatch.js'
import { Leases } from './leases.js'
import { Limits } from './limits.js'
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_POLL,
  type ProcessingOptions,
  processingRule,
  workerName,
} from './options.js'
import { Pause } from './pause.js'
import { Places } from './places.js'
import { RecordClaims } from './record-claims.js'
import type { Result } from './result.js'
import { OutcomeWriter } from './settle.js'

/** The parts that the processor makes itself. */
type Parts = 'outcomes' | 'unhandled' | 'leases' | 'buffer' | 'places' | 'limits' | 'pause' | 'roomIsFree'
interface ProcessorDeps<Tx> extends Omit<DispatchDeps<Tx>, Parts> {
  /** For an event that goes from `record` to dispatch: its payload as a claim returns it. */
  readonly readable: (recorded: ClaimedEvent) => ClaimedEvent
}

/** How long aborted attempts may take to be released when the processor stops. */
const ABORTED_MS = 2_000
/** After a claim of fewer events than this, the loop rests as long as the claim took, so that the next one finds more. */
const FEW_EVENTS = 8
const MAX_REST_MS = 20

export class Processor<Tx> {
  readonly #deps: DispatchDeps<Tx>
  readonly #concurrency: number
  readonly #pollMs: number
  readonly #pause = new Pause()
  readonly #backlog = new Backlog()
  readonly #sources: ClaimSources<Tx>
  readonly #claims: Claims<Tx>
  readonly #recordClaims: RecordClaims<Tx>
  readonly #dispatch: Dispatch<Tx>
  #state: 'idle' | 'running' | 'stopping' = 'idle'
  #looping: Promise<void> | null = null
  /** Events of `processEvent` and `runRecorded`, by their seq. */
  readonly #runs = new Map<number, Promise<unknown>>()
  #unsubscribe: (() => Promise<void>) | undefined
  /** Events that had not begun at the stop. */
  #released: Promise<void> | undefined
  /** Claims in a row that have failed. */
  #failures = 0

  constructor(deps: ProcessorDeps<Tx>, options: ProcessingOptions = {}) {
    checkOptions('processing', options, processingRule)
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY
    this.#pollMs = msOf(options.poll, DEFAULT_POLL)
    const leaseMs = msOf(options.lease, '30s')
    const worker = options.worker ?? workerName()
    const places = new Places<Tx>(this.#concurrency)
    const limits = new Limits<Tx>({
      ...deps,
      places,
      worker,
      leaseMs,
      wake: () => this.#dispatch.startReady(),
    })
    const buffer = new EventBuffer(deps.registry, places, limits, leaseMs)
    this.#deps = {
      ...deps,
      outcomes: new OutcomeWriter(deps.store),
      unhandled: new Map(),
      leases: new Leases(deps, leaseMs, {
        remove: (claimed) => {
          buffer.remove(claimed)
          this.#dispatch.tellIdle()
        },
      }),
      buffer,
      places,
      limits,
      pause: this.#pause,
      roomIsFree: () => {
        if (!this.#backlog.isEmpty || this.#sources.areOrdered) this.#pause.end()
      },
    }
    this.#sources = new ClaimSources(deps.registry, deps.sources, buffer)
    this.#dispatch = new Dispatch(this.#deps)
    this.#claims = new Claims(this.#deps, this.#dispatch, { worker, leaseMs })
    this.#recordClaims = new RecordClaims(
      { ...this.#deps, readable: deps.readable, backlog: this.#backlog },
      this.#dispatch,
      { worker, leaseMs, mayClaim: () => this.#state === 'running' && !this.#claims.arePaused },
    )
  }

  async start(): Promise<void> {
    if (this.#state === 'running') return
    this.#state = 'running'
    this.#released = undefined
    this.#dispatch.start()
    this.#deps.leases.allowSessions()
    const unsubscribe = await this.#deps.store
      .subscribe(() => this.wake())
      .catch((error: unknown) => {
        this.#deps.log.warn(
          { step: 'claim', code: countStoreError(this.#deps.counters, error) },
          'no notifications from other processes; only polling',
        )
        return undefined
      })
    if (this.#isStopping) return unsubscribe?.()
    this.#unsubscribe = unsubscribe
    this.#looping = this.#loop()
  }

  get #isStopping(): boolean {
    return this.#state === 'stopping'
  }

  get places(): PlacesTaken {
    return this.#deps.places.taken
  }

  wake(): void {
    this.#pause.end()
  }

  /** The first part of `stop`. Requests still run the events that they have recorded. */
  stopClaiming(): Promise<void> {
    this.#state = 'stopping'
    this.#released ??= this.#dispatch.stop()
    this.#pause.end()
    return this.#released
  }

  /** Stops claiming and finishes running attempts. Aborts and releases those that still run after `deadlineMs`. */
  async stop(deadlineMs = 10_000): Promise<void> {
    const { leases } = this.#deps
    const left = countDown(deadlineMs)
    const released = this.stopClaiming()
    await atMost(left(), this.#looping)
    await atMost(left(), this.#unsubscribe?.())
    const timer = setTimeout(() => leases.abortAll(), left())
    // Results of aborted attempts are still written and what was claimed late is released, if the store accepts it;
    // otherwise their leases expire.
    await atMost(left() + ABORTED_MS, Promise.all([this.#dispatch.idle(), this.#looping, released]))
    clearTimeout(timer)
    await atMost(Math.max(left(), ABORTED_MS / 4), this.#deps.limits.giveBack())
    leases.endHeartbeat()
  }

  /** Runs due events until there are none. Resolves to the number of attempts. */
  async drain(): Promise<number> {
    const limit = Math.max(this.#concurrency, this.#deps.registry.largestGroup)
    this.#dispatch.drains++
    await this.#deps.registry.paused.refresh()
    try {
      for (let attempts = 0; ; ) {
        const claimed = await this.#claims.due(limit, this.#sources.unpaused(), 0)
        await this.#dispatch.idle()
        if (claimed.found === 0) return attempts
        attempts += claimed.attempts
      }
    } finally {
      this.#dispatch.drains--
      await this.#deps.limits.giveBack()
    }
  }

  /** Runs this event now, due or not. Null when `Claims.one` is null. `postponed`: by the handler, or it must not run here now. */
  async processEvent(key: EventKey): Promise<Result | null> {
    await this.#deps.registry.paused.refreshOld()
    const claimed = await this.#claims.one(key)
    if (claimed === 'released') return { kind: 'postponed', delayMs: 0 }
    return claimed && this.#runNow(claimed)
  }

  /** Records deliveries, and claims the events that can begin at once. */
  record(next: LogRecorder, deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    return this.#recordClaims.record(next, deliveries)
  }

  /** Runs the event that its request has recorded. Null when it has no lease, as for an event that was known. */
  async runRecorded(seq: number): Promise<Result | null> {
    const claimed = this.#recordClaims.takeForRequest(seq)
    return claimed && this.#runNow(claimed)
  }

  /** Resolves when the call that runs this event now has ended; null when there is none in this process. */
  endOf(seq: number): Promise<unknown> | null {
    return this.#runs.get(seq) ?? null
  }

  async #runNow(claimed: ClaimedEvent): Promise<Result> {
    const { seq } = claimed.lease
    const run = this.#dispatch.runNow(claimed)
    const ended = run.catch(() => {}).finally(() => this.#runs.delete(seq))
    this.#runs.set(seq, ended)
    return run
  }

  async #loop(): Promise<void> {
    while (this.#state === 'running') {
      this.#dispatch.startReady()
      const claimable = this.#sources.claimable()
      if (await this.#claimForRoom(claimable)) continue
      if (this.#state !== 'running') return
      await this.#pause.begin(this.#pauseMs(claimable))
    }
  }

  /** Claims as many events as there is room for. True when there are probably more. */
  async #claimForRoom(claimable: Claimable): Promise<boolean> {
    const { room } = this.#dispatch
    if (room === 0) {
      this.#backlog.add()
      return false
    }
    const isEmpty = this.#backlog.beforeClaim()
    const askedAt = performance.now()
    const { sources, limit } = this.#sources.nextClaim(claimable, room)
    try {
      const { found, isCut } = await this.#claims.due(limit, sources)
      this.#failures = 0
      if (found === limit || isCut) {
        this.#backlog.add()
        return true
      }
      if (claimable.behind.length === 0 && sources.length > 0 && !this.#claims.arePaused) isEmpty()
      if (found < FEW_EVENTS && this.#deps.places.free < this.#concurrency && !this.#sources.areOrdered)
        await rest(Math.min(MAX_REST_MS, performance.now() - askedAt))
    } catch (error) {
      this.#failures++
      this.#deps.log.error(
        { step: 'claim', code: countStoreError(this.#deps.counters, error) },
        'due events could not be claimed; trying again',
      )
    }
    return false
  }

  #pauseMs({ behind }: Claimable): number {
    if (this.#failures > 0) return Math.min(10_000, 200 * 2 ** this.#failures)
    return behind.length > 0 ? Math.min(this.#pollMs, LOOK_MS) : this.#pollMs
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
