/**
 * Keys that are looked up by a name in the delivery: the address of a certificate, the id of a key. A stranger can invent
 * names, so look-ups have a budget. A key that was found is never removed because of a name that was invented.
 */
import type { KeyObject } from 'node:crypto'
import { valueWithin } from '../../clock.js'
import type { RejectReason } from '../../provider.js'
import { lookUpTimeoutMs } from './key-fetch.js'

export type FoundKey = KeyObject | RejectReason

/** A sender has one or two keys at a time. */
const maxKeys = 64
const maxFailures = 256
/** A look-up that failed is not repeated earlier. */
const retryAfterMs = 30_000
/** After a quiet time, all of them may come at once. */
const lookUpsPerMinute = 10

export class KeyCache {
  readonly #keys = new Map<string, KeyObject>()
  readonly #failures = new Map<string, { readonly reason: RejectReason; readonly at: number }>()
  readonly #pending = new Map<string, Promise<FoundKey>>()
  readonly #lookUp: (name: string) => Promise<FoundKey>
  readonly #now: () => number
  readonly #timeoutMs: number
  #budget = lookUpsPerMinute
  #budgetAt: number

  /** `lookUp` must not reject. */
  constructor(
    lookUp: (name: string) => Promise<FoundKey>,
    { now = () => performance.now(), timeoutMs = lookUpTimeoutMs } = {},
  ) {
    this.#lookUp = lookUp
    this.#now = now
    this.#timeoutMs = timeoutMs
    this.#budgetAt = now()
  }

  find(name: string): FoundKey | Promise<FoundKey> {
    const key = this.#keys.get(name)
    if (key !== undefined) {
      this.#remember(name, key)
      return key
    }
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    const failure = this.#failures.get(name)
    if (failure !== undefined && this.#now() - failure.at < retryAfterMs) return failure.reason
    // Nobody knows whether this one is genuine, so the answer is that of an outage: the sender comes back.
    if (!this.#spend()) return 'key_unavailable'
    const found = valueWithin(this.#lookUp(name), this.#timeoutMs, 'key_unavailable' as const).then(
      (result) => this.#finish(name, result),
    )
    this.#pending.set(name, found)
    return found
  }

  #finish(name: string, found: FoundKey): FoundKey {
    this.#pending.delete(name)
    this.#failures.delete(name)
    if (typeof found === 'string') {
      this.#failures.set(name, { reason: found, at: this.#now() })
      removeFirst(this.#failures, maxFailures)
    } else this.#remember(name, found)
    return found
  }

  #remember(name: string, key: KeyObject): void {
    this.#keys.delete(name)
    this.#keys.set(name, key)
    removeFirst(this.#keys, maxKeys)
  }

  #spend(): boolean {
    const now = this.#now()
    const earned = ((now - this.#budgetAt) * lookUpsPerMinute) / 60_000
    this.#budget = Math.min(lookUpsPerMinute, this.#budget + earned)
    this.#budgetAt = now
    if (this.#budget < 1) return false
    this.#budget -= 1
    return true
  }
}

function removeFirst(entries: Map<string, unknown>, most: number): void {
  if (entries.size > most) entries.delete(entries.keys().next().value!)
}
