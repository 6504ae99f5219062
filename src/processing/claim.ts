/**
 * claim: takes due events from the store, under leases, and gives those that run here to dispatch. It releases
 *
 *   suspects            events that may kill their worker, while this process has one of them (`suspects.ts`);
 *   paused events       an operator has paused their type. Later claims leave it out, so that a backlog of it is not claimed
 *                       and released in a loop;
 *   events elsewhere    this process has no handler for them, and another live process has one (`elsewhere.ts`).
 *
 * An event that no live process handles runs here, and goes to the review list. Handlers may be added and paused while a
 * claim waits for the store: what to do with each event is decided once.
 */
import { countStoreError } from '../counters.js'
import { type ClaimedEvent, type EventKey, type EventTypeKey, limits } from '../model.js'
import { bytesOf } from './buffer-size.js'
import type { Dispatch, DispatchDeps } from './dispatch.js'
import { Elsewhere } from './elsewhere.js'
import { PausedTypes } from './paused-types.js'
import { Suspects } from './suspects.js'

const SUSPECT_DELAY_MS = 100
const ELSEWHERE_DELAY_MS = 100

export interface Claimed {
  /** Events that were claimed, without suspects that must wait. */
  readonly found: number
  readonly attempts: number
  /** The store may have left out due events, because their bodies were too many bytes. */
  readonly isCut: boolean
}

const nothing: Claimed = { found: 0, attempts: 0, isCut: false }

export class Claims<Tx> {
  readonly #deps: DispatchDeps<Tx>
  readonly #dispatch: Dispatch<Tx>
  readonly #by: { readonly worker: string; readonly leaseMs: number }
  readonly #suspects: Suspects<Tx>
  readonly #elsewhere: Elsewhere<Tx>
  readonly #pausedTypes: PausedTypes

  constructor(deps: DispatchDeps<Tx>, dispatch: Dispatch<Tx>, by: { worker: string; leaseMs: number }) {
    this.#deps = deps
    this.#dispatch = dispatch
    this.#by = by
    this.#suspects = new Suspects(deps.registry, deps.leases)
    this.#pausedTypes = new PausedTypes(deps.registry.paused)
    this.#elsewhere = new Elsewhere(deps.store, deps.sources, deps.registry)
  }

  /** An event may kill this process, so no other is claimed beside it. */
  get arePaused(): boolean {
    return this.#suspects.pauseClaims
  }

  async due(limit: number, sources: readonly string[], suspectDelayMs = SUSPECT_DELAY_MS): Promise<Claimed> {
    const { store, registry, leases, buffer, pause } = this.#deps
    if (this.#dispatch.isStopped || sources.length === 0 || this.arePaused) return nothing
    const askedAt = performance.now()
    const except = this.#leftOut()
    const request = { ...this.#by, limit, sources }
    const claimed = await store.claim(except.length > 0 ? { ...request, except } : request)
    for (const event of claimed) leases.add(event, askedAt)
    const paused = claimed.filter((event) => registry.isPaused(event))
    const unpaused = claimed.filter((event) => !registry.isPaused(event))
    const unhandled = unpaused.filter((event) => !registry.has(event))
    const { toRun, toRelease } = this.#suspects.sort(unpaused.filter((event) => registry.has(event)))
    const releasing = this.#releasePaused(paused)
    if (toRelease.length > 0) {
      // Before the first of them begins, which may kill this process.
      await this.#dispatch.release(toRelease, suspectDelayMs)
      pause.endIn(suspectDelayMs)
    }
    if (this.#dispatch.isStopped) {
      await Promise.all([releasing, this.#dispatch.release([...toRun, ...unhandled])])
      return nothing
    }
    buffer.measured.claimed(claimed)
    const begun = this.#addLeased(toRun)
    const nowhere = unhandled.length === 0 ? [] : await this.#leaveToOthers(unhandled)
    await releasing
    return {
      found: claimed.length - toRelease.length,
      attempts: begun + this.#addLeased(nowhere),
      isCut: bytesOf(claimed) > limits.claimBytes / 2,
    }
  }

  /** Null: there is no such event, it has finished, or another worker has it. `released`: it must not run here now. */
  async one(key: EventKey): Promise<ClaimedEvent | 'released' | null> {
    const { store, registry, leases } = this.#deps
    const askedAt = performance.now()
    const [claimed] = await store.claim({ ...this.#by, limit: 1, event: key })
    if (!claimed) return null
    if (!registry.sources().includes(key.source) || registry.isPaused(claimed)) {
      await this.#dispatch.release([claimed])
      return 'released'
    }
    leases.add(claimed, askedAt)
    if (registry.has(claimed)) return claimed
    const [nowhere] = await this.#leaveToOthers([claimed])
    return nowhere ?? 'released'
  }

  /** Types that this process does not claim now: another process handles them, or they are paused. */
  #leftOut(): EventTypeKey[] {
    const { registry } = this.#deps
    return [...this.#elsewhere.types().filter((type) => !registry.has(type)), ...this.#pausedTypes.known()]
  }

  /** Without a delay, so that they are claimed at once when they are resumed. */
  async #releasePaused(paused: readonly ClaimedEvent[]): Promise<void> {
    for (const { events, delayMs } of this.#pausedTypes.note(paused))
      await this.#dispatch.release(events, delayMs)
  }

  /** Returns how many events still have their lease. */
  #addLeased(claimed: readonly ClaimedEvent[]): number {
    const leased = claimed.filter(({ lease }) => this.#deps.leases.has(lease.token))
    this.#deps.buffer.add(leased)
    this.#dispatch.startReady()
    return leased.length
  }

  /** Releases the events that another process handles. Returns those that no live process handles. */
  async #leaveToOthers(unhandled: readonly ClaimedEvent[]): Promise<readonly ClaimedEvent[]> {
    const { leases, log, counters } = this.#deps
    const found = await this.#elsewhere.sort(unhandled).catch((error: unknown) => {
      log.error(
        { step: 'claim', code: countStoreError(counters, error) },
        'cannot read what other processes handle; trying again',
      )
      return { elsewhere: unhandled, nowhere: [] }
    })
    await this.#dispatch.release(found.elsewhere, ELSEWHERE_DELAY_MS)
    const nowhere = found.nowhere.filter(({ lease }) => leases.has(lease.token))
    if (!this.#dispatch.isStopped) return nowhere
    await this.#dispatch.release(nowhere)
    return []
  }
}
