/**
 * Suspects: events that may kill their worker, because the workers of their last attempts died. A process leases only one
 * suspect at a time. If it leased several, one that kills the worker each time would use up the attempts of the others.
 */
import type { ClaimedEvent } from '../model.js'
import type { Leases } from './leases.js'
import type { Registry } from './registry.js'

/** Lost attempts in a row that make an event a suspect. One crash is not enough. */
const SUSPECT_LOSSES = 2
/** No claims for so long after a suspect has begun: events claimed now would be lost if it kills the worker. */
const PAUSE_MS = 1_000

export class Suspects<Tx> {
  readonly #registry: Registry<Tx>
  readonly #leases: Leases<Tx>
  #current = ''
  #since = 0

  constructor(registry: Registry<Tx>, leases: Leases<Tx>) {
    this.#registry = registry
    this.#leases = leases
  }

  get pauseClaims(): boolean {
    return this.#leases.has(this.#current) && performance.now() - this.#since < PAUSE_MS
  }

  sort(claimed: readonly ClaimedEvent[]): {
    readonly toRun: readonly ClaimedEvent[]
    readonly toRelease: readonly ClaimedEvent[]
  } {
    const suspects = claimed.filter((event) => this.#isSuspect(event))
    const next = this.#leases.has(this.#current) ? undefined : suspects[0]
    if (next) {
      this.#current = next.lease.token
      this.#since = performance.now()
    }
    const toRelease = new Set(suspects.filter((suspect) => suspect !== next))
    return { toRun: claimed.filter((event) => !toRelease.has(event)), toRelease: [...toRelease] }
  }

  /** An event in its last attempt is a suspect after one loss: lost once more, it would be a dead letter. */
  #isSuspect({ source, type, losses, tries }: ClaimedEvent): boolean {
    if (losses === 0) return false
    const handler = this.#registry.resolve(source, type)
    if (!handler || tries > handler.retry.maxAttempts) return false // no handler will run
    return losses >= SUSPECT_LOSSES || tries === handler.retry.maxAttempts
  }
}
