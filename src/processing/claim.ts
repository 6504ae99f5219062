/**
 * claim: takes due events from the store, under leases, and gives those that run here to dispatch. It releases
 *
 *   suspects            events that may kill their worker, while this process has one of them (`suspects.ts`);
 *   events elsewhere    this process has no handler for them, and another live process has one (`elsewhere.ts`).
 *
 * An event that no live process handles runs here, and goes to the review list.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, EventKey } from '../model.js'
import type { Dispatch, DispatchDeps } from './dispatch.js'
import { Elsewhere } from './elsewhere.js'
import { Suspects } from './suspects.js'

const SUSPECT_DELAY_MS = 100
const ELSEWHERE_DELAY_MS = 100

export interface Claimed {
  /** Events that were claimed, without suspects that must wait. */
  readonly found: number
  readonly attempts: number
}

const nothing: Claimed = { found: 0, attempts: 0 }

export class Claims<Tx> {
  readonly #deps: DispatchDeps<Tx>
  readonly #dispatch: Dispatch<Tx>
  readonly #by: { readonly worker: string; readonly leaseMs: number }
  readonly #suspects: Suspects<Tx>
  readonly #elsewhere: Elsewhere<Tx>

  constructor(deps: DispatchDeps<Tx>, dispatch: Dispatch<Tx>, by: { worker: string; leaseMs: number }) {
    this.#deps = deps
    this.#dispatch = dispatch
    this.#by = by
    this.#suspects = new Suspects(deps.registry, deps.leases)
    this.#elsewhere = new Elsewhere(deps.store, deps.sources)
  }

  async due(limit: number, sources: readonly string[], suspectDelayMs = SUSPECT_DELAY_MS): Promise<Claimed> {
    const { store, registry, leases, buffer, pause } = this.#deps
    if (this.#dispatch.isStopped || sources.length === 0 || this.#suspects.pauseClaims) return nothing
    const askedAt = performance.now()
    const except = this.#elsewhere.types().filter((type) => !registry.has(type))
    const request = { ...this.#by, limit, sources }
    const claimed = await store.claim(except.length > 0 ? { ...request, except } : request)
    const { toRun, toRelease } = this.#suspects.sort(claimed.filter((event) => registry.has(event)))
    if (toRelease.length > 0) {
      // Before the first of them begins, which may kill this process.
      await this.#dispatch.release(toRelease, suspectDelayMs)
      pause.endIn(suspectDelayMs)
    }
    if (this.#dispatch.isStopped) {
      await this.#dispatch.release(claimed)
      return nothing
    }
    buffer.measured.claimed(claimed)
    for (const event of toRun) leases.add(event, askedAt)
    buffer.add(toRun)
    this.#dispatch.startReady()
    const unhandled = claimed.filter((event) => !registry.has(event))
    const nowhere = unhandled.length === 0 ? [] : await this.#leaveToOthers(unhandled, askedAt)
    buffer.add(nowhere)
    this.#dispatch.startReady()
    return { found: claimed.length - toRelease.length, attempts: toRun.length + nowhere.length }
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
    const [nowhere] = await this.#leaveToOthers([claimed], askedAt)
    return nowhere ?? 'released'
  }

  /** Releases the events that another process handles. Returns those that no live process handles. */
  async #leaveToOthers(
    unhandled: readonly ClaimedEvent[],
    askedAt: number,
  ): Promise<readonly ClaimedEvent[]> {
    const { leases, log, counters } = this.#deps
    for (const event of unhandled) leases.add(event, askedAt)
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
