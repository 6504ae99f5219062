/**
 * A key set (JWKS) at a fixed address. It is fetched again when it is old, and when a token names a key that it does not
 * have. Strangers can invent such names, so a set that was just fetched is not fetched again.
 */
import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet, type JWTHeaderParameters } from 'jose'
import { valueWithin } from '../../clock.js'
import type { RejectReason } from '../../provider.js'
import { fetchBytes, lookUpTimeoutMs } from './key-fetch.js'

type LocalKeySet = ReturnType<typeof createLocalJWKSet>

const maxAgeMs = 600_000
const cooldownMs = 30_000
const retryAfterMs = 5_000

export class KeySet {
  readonly #url: string
  readonly #load: typeof fetch
  readonly #now: () => number
  readonly #timeoutMs: number
  #keys: LocalKeySet | null = null
  #fetchedAt = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #pending: Promise<boolean> | null = null

  constructor(
    url: string,
    load: typeof fetch,
    { now = () => performance.now(), timeoutMs = lookUpTimeoutMs } = {},
  ) {
    this.#url = url
    this.#load = load
    this.#now = now
    this.#timeoutMs = timeoutMs
  }

  async find(header: JWTHeaderParameters): Promise<CryptoKey | RejectReason> {
    if (this.#isOld() && !(await this.#refresh())) return 'key_unavailable'
    const known = await this.#match(header)
    if (known !== null) return known
    // Fetched a moment ago: a key that is not in it does not exist.
    if (this.#now() - this.#fetchedAt < cooldownMs) return 'unknown_key'
    if (!(await this.#refresh())) return 'key_unavailable'
    return (await this.#match(header)) ?? 'unknown_key'
  }

  #isOld(): boolean {
    return this.#keys === null || this.#now() - this.#fetchedAt > maxAgeMs
  }

  async #match(header: JWTHeaderParameters): Promise<CryptoKey | null> {
    try {
      return await this.#keys!(header as never)
    } catch {
      return null
    }
  }

  /** False if the set cannot be fetched now. All that ask meanwhile wait for one request. */
  async #refresh(): Promise<boolean> {
    if (this.#pending === null) {
      if (this.#now() - this.#failedAt < retryAfterMs) return false
      this.#pending = valueWithin(this.#fetch(), this.#timeoutMs, false).then((fetched) => {
        if (!fetched) this.#failedAt = this.#now()
        this.#pending = null
        return fetched
      })
    }
    return this.#pending
  }

  async #fetch(): Promise<boolean> {
    const bytes = await fetchBytes(this.#load, this.#url)
    if (typeof bytes === 'string') return false
    try {
      this.#keys = createLocalJWKSet(JSON.parse(bytes.toString('utf8')) as JSONWebKeySet)
      this.#fetchedAt = this.#now()
      return true
    } catch {
      return false
    }
  }
}
