/**
 * One delivery while it is being read: what has been parsed so far, and whether anything could not be. Reads are
 * lazy, so a header scheme never parses the body. A reading is made per call and thrown away.
 */

import type { Delivery } from '../../provider.js'
import type { JsonQuery, JsonToken } from '../json.js'
import { type Pairs, single } from './form.js'
import { type DocumentRule, type Found, nothingOpened, type Opened, Shared, splitUrl } from './shared.js'

const noTokens: readonly JsonToken[] = []
const noBytes = new Uint8Array()

interface Inside {
  readonly shared: Shared
  readonly levels: readonly Uint8Array[] | undefined
  readonly part: number | null
}

export class Reading {
  /** Set by the first thing that could not be read for certain; what was read beside it is not to be trusted. */
  unreadable = false
  /** Set by a scheme that has verified it. */
  result: Opened | undefined
  #timestamp: string | undefined
  #claims: Readonly<Record<string, unknown>> | undefined
  /** Position of the part among the parts of its delivery; null for the whole delivery. */
  readonly part: number | null
  readonly #shared: Shared
  /** The part itself, what encloses it, ... and at the end the document. */
  readonly #levels: readonly Uint8Array[] | undefined

  /** A part is made by `at`, which gives it what it shares with the others. */
  constructor(
    delivery: Delivery,
    rule: DocumentRule = {},
    publicUrl?: string,
    open?: () => Opened,
    inside?: Inside,
  ) {
    this.#shared = inside?.shared ?? new Shared(delivery, rule, publicUrl, open)
    this.#levels = inside?.levels
    this.part = inside?.part ?? null
  }

  /** The same delivery, seen from one of its parts. */
  at(levels: readonly Uint8Array[], part: number): Reading {
    return this.#inside(levels, part)
  }

  /** The same, with nothing found unreadable yet: for another rule, which may read other things. */
  again(): Reading {
    return this.#inside(this.#levels, this.part)
  }

  #inside(levels: readonly Uint8Array[] | undefined, part: number | null): Reading {
    const inside = { shared: this.#shared, levels, part }
    const reading = new Reading(this.delivery, undefined, undefined, undefined, inside)
    reading.#timestamp = this.#timestamp
    reading.#claims = this.#claims
    return reading
  }

  get delivery(): Delivery {
    return this.#shared.delivery
  }

  get tooDeep(): boolean {
    return this.#shared.tooDeep
  }

  get document(): Uint8Array {
    const { document } = this.#shared
    if (document === null) this.unreadable = true
    return document ?? noBytes
  }

  /** What the scheme knows of the whole delivery: for naming its events, after it was verified. */
  get opened(): Opened {
    return this.#shared.opened
  }

  /** The text of the signed time as the sender wrote it. */
  get timestamp(): string | undefined {
    return this.#timestamp ?? this.opened.timestamp
  }

  set timestamp(text: string | undefined) {
    this.#timestamp = text
  }

  /** Claims of the token that was verified. */
  get claims(): Readonly<Record<string, unknown>> | undefined {
    return this.#claims ?? this.opened.claims
  }

  set claims(claims: Readonly<Record<string, unknown>> | undefined) {
    this.#claims = claims
  }

  /** Level 0 is the part; each level further is what encloses it; -1 is the document. */
  level(level: number): Uint8Array {
    if (this.#levels === undefined || level < 0) return this.document
    return this.#levels[Math.min(level, this.#levels.length - 1)] ?? this.document
  }

  /** All tokens at one path of a query, run at most once over the same bytes of a delivery. */
  tokens(query: JsonQuery, slot: number, level: number): readonly JsonToken[] {
    const found = this.scan(query, this.level(level))
    if (found === null) this.unreadable = true
    return found?.[slot] ?? noTokens
  }

  /** Null: the bytes are not JSON that can be read for certain. */
  scan(query: JsonQuery, bytes: Uint8Array): Found {
    return this.#shared.tokens(query, bytes)
  }

  header(name: string): string | undefined {
    return this.#shared.header(name)
  }

  form(name: string): string | undefined {
    return this.#single(this.formPairs, name)
  }

  query(name: string): string | undefined {
    return this.#single(this.queryPairs, name)
  }

  get formPairs(): Pairs {
    const pairs = this.#shared.form
    if (pairs === null) this.unreadable = true
    return pairs ?? []
  }

  get queryPairs(): Pairs {
    const pairs = this.#shared.query
    if (pairs === null) this.unreadable = true
    return pairs ?? []
  }

  /** The URL the sender called. Behind a proxy that rewrites it, the option `publicUrl` says what it was. */
  get url(): string {
    const { publicUrl, delivery } = this.#shared
    if (publicUrl === undefined) return delivery.url
    if (publicUrl.includes('?')) return publicUrl
    const { query } = splitUrl(delivery.url)
    return query === '' ? publicUrl : `${publicUrl}?${query}`
  }

  /** Path and query, as sent. */
  get path(): string {
    const url = this.url
    const scheme = url.indexOf('://')
    if (scheme < 0) return url
    const slash = url.indexOf('/', scheme + 3)
    return slash < 0 ? '/' : url.slice(slash)
  }

  #single(pairs: Pairs, name: string): string | undefined {
    const value = single(pairs, name)
    if (value === null) this.unreadable = true
    return value ?? undefined
  }
}

export type { DocumentRule, Opened }
export { nothingOpened, splitUrl }
