/**
 * One pass over a delivery, or over one slice of it: it reads values and remembers whether any of them was unreadable.
 * Values are parsed when they are first read, so a scheme that needs only headers never parses the body.
 */

import type { Delivery } from '../../provider.js'
import type { JsonQuery, JsonToken } from '../json.js'
import { onlyValue, type Pairs } from './body-formats.js'
import {
  type DocumentRule,
  type FoundTokens,
  noSignedData,
  ParsedDelivery,
  type SignedData,
  splitUrl,
} from './parsed-delivery.js'

const noTokens: readonly JsonToken[] = []
const noBytes = new Uint8Array()

interface Position {
  readonly parsed: ParsedDelivery
  readonly levels: readonly Uint8Array[] | undefined
  readonly slice: number | null
}

export class Reading {
  /** Set by the first value that cannot be read for certain. The other values of this reading are then not used. */
  unreadable = false
  /** Set by the scheme that verified the delivery. */
  verifiedData: SignedData | undefined
  #timestamp: string | undefined
  #claims: Readonly<Record<string, unknown>> | undefined
  /** The position of the slice in its delivery; null for the whole delivery. */
  readonly slice: number | null
  readonly #parsed: ParsedDelivery
  /** The bytes of the slice, of each object around it, and at the end of the document. */
  readonly #levels: readonly Uint8Array[] | undefined

  /** Use `at` for a slice: `position` is only for that. */
  constructor(
    delivery: Delivery,
    rule: DocumentRule = {},
    publicUrl?: string,
    readSignedData?: () => SignedData,
    position?: Position,
  ) {
    this.#parsed = position?.parsed ?? new ParsedDelivery(delivery, rule, publicUrl, readSignedData)
    this.#levels = position?.levels
    this.slice = position?.slice ?? null
  }

  /** A reading of one slice of the same delivery. */
  at(levels: readonly Uint8Array[], slice: number): Reading {
    return this.#copy(levels, slice)
  }

  /** A new reading of the same bytes, with `unreadable` not set: for another rule, which may read other values. */
  again(): Reading {
    return this.#copy(this.#levels, this.slice)
  }

  #copy(levels: readonly Uint8Array[] | undefined, slice: number | null): Reading {
    const position = { parsed: this.#parsed, levels, slice }
    const reading = new Reading(this.delivery, undefined, undefined, undefined, position)
    reading.#timestamp = this.#timestamp
    reading.#claims = this.#claims
    return reading
  }

  get delivery(): Delivery {
    return this.#parsed.delivery
  }

  get document(): Uint8Array {
    const { document } = this.#parsed
    if (document === null) this.unreadable = true
    return document ?? noBytes
  }

  /** The signed data of the whole delivery, which was verified before: it names the events. */
  get signedData(): SignedData {
    return this.#parsed.signedData
  }

  /** The text of the signed time. */
  get timestamp(): string | undefined {
    return this.#timestamp ?? this.signedData.timestamp
  }

  set timestamp(text: string | undefined) {
    this.#timestamp = text
  }

  /** The claims of the verified token. */
  get claims(): Readonly<Record<string, unknown>> | undefined {
    return this.#claims ?? this.signedData.claims
  }

  set claims(claims: Readonly<Record<string, unknown>> | undefined) {
    this.#claims = claims
  }

  /** Level 0 is the slice, 1 the object around it, 2 the object around that, -1 the document. */
  level(level: number): Uint8Array {
    if (this.#levels === undefined || level < 0) return this.document
    return this.#levels[Math.min(level, this.#levels.length - 1)] ?? this.document
  }

  /** All tokens at one path of a query. A query runs at most once over the same bytes of a delivery. */
  tokens(query: JsonQuery, slot: number, level: number): readonly JsonToken[] {
    const found = this.scan(query, this.level(level))
    if (found === null) this.unreadable = true
    return found?.[slot] ?? noTokens
  }

  /** Null: the bytes are not unambiguous JSON. */
  scan(query: JsonQuery, bytes: Uint8Array): FoundTokens {
    return this.#parsed.tokens(query, bytes)
  }

  header(name: string): string | undefined {
    return this.#parsed.header(name)
  }

  form(name: string): string | undefined {
    return this.#onlyValue(this.formPairs, name)
  }

  query(name: string): string | undefined {
    return this.#onlyValue(this.queryPairs, name)
  }

  get formPairs(): Pairs {
    const pairs = this.#parsed.form
    if (pairs === null) this.unreadable = true
    return pairs ?? []
  }

  get queryPairs(): Pairs {
    const pairs = this.#parsed.query
    if (pairs === null) this.unreadable = true
    return pairs ?? []
  }

  /** The URL that the sender called. A proxy may rewrite it; then the option `publicUrl` has the original. */
  get url(): string {
    const { publicUrl, delivery } = this.#parsed
    if (publicUrl === undefined) return delivery.url
    if (publicUrl.includes('?')) return publicUrl
    const { query } = splitUrl(delivery.url)
    return query === '' ? publicUrl : `${publicUrl}?${query}`
  }

  /** The path and the query, as sent. */
  get path(): string {
    const url = this.url
    const scheme = url.indexOf('://')
    if (scheme < 0) return url
    const slash = url.indexOf('/', scheme + 3)
    return slash < 0 ? '/' : url.slice(slash)
  }

  #onlyValue(pairs: Pairs, name: string): string | undefined {
    const value = onlyValue(pairs, name)
    if (value === null) this.unreadable = true
    return value ?? undefined
  }
}

export type { DocumentRule, SignedData }
export { noSignedData, splitUrl }
