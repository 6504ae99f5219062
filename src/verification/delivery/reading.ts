/**
 * A reading of a delivery, or of one slice of it: it remembers whether any value was unreadable. Values are parsed when
 * they are first read, once for all readings of the delivery.
 */
import type { Delivery } from '../../provider.js'
import type { JsonQuery, JsonToken } from '../json.js'
import { isForm, multipartField, onlyValue, type Pairs, parseForm, parsePairs } from './body-formats.js'
import type { Chunk } from './template.js'

/** The place of the JSON document, when it is not the body. */
export interface DocumentRule {
  /** In this field when the body is form-encoded (`payload=<json>`); the body itself otherwise. */
  readonly form?: string
  /** The form field holds base64 of the document (Braintree). */
  readonly base64?: true
  /** In this field when the body is multipart. */
  readonly multipart?: string
  /** One JSON document per line; each line is a slice. */
  readonly lines?: true
}

export interface SignedData {
  /** The signed content, in order; null when nothing is signed (a shared token). */
  readonly signed: readonly Chunk[] | null
  /** The content that names the event: the signed content, and the body if the signature does not cover it. */
  readonly naming: readonly Chunk[] | null
  readonly timestamp: string | undefined
  /** From the token (JWT). */
  readonly claims: Readonly<Record<string, unknown>> | undefined
}

export const noSignedData: SignedData = {
  signed: null,
  naming: null,
  timestamp: undefined,
  claims: undefined,
}

type FoundTokens = readonly (readonly JsonToken[])[] | null

/** Everything parsed so far. Null: it cannot be read for certain. */
interface Parsed {
  readonly delivery: Delivery
  readonly rule: DocumentRule
  readonly publicUrl: string | undefined
  readonly readSignedData: (() => SignedData) | undefined
  signedData?: SignedData
  document?: Uint8Array | null
  form?: Pairs | null
  query?: Pairs | null
  /** By query, then by bytes. Slices share the bytes around them, which are scanned once for all slices. */
  readonly found: Map<JsonQuery, Map<Uint8Array, FoundTokens>>
}

const noTokens: readonly JsonToken[] = []
const noBytes = new Uint8Array()

export class Reading {
  /** Set by the first value that cannot be read for certain. The other values of this reading are then not used. */
  unreadable = false
  verifiedData: SignedData | undefined
  #timestamp: string | undefined
  /** The index of the slice; null for the whole delivery. */
  readonly slice: number | null
  readonly #parsed: Parsed
  /** Bytes of the slice, of each object around it, and last of the document. */
  readonly #levels: readonly Uint8Array[] | undefined

  private constructor(parsed: Parsed, levels: readonly Uint8Array[] | undefined, slice: number | null) {
    this.#parsed = parsed
    this.#levels = levels
    this.slice = slice
  }

  static of(
    delivery: Delivery,
    rule: DocumentRule = {},
    publicUrl?: string,
    readSignedData?: () => SignedData,
  ): Reading {
    const parsed: Parsed = { delivery, rule, publicUrl, readSignedData, found: new Map() }
    return new Reading(parsed, undefined, null)
  }

  at(levels: readonly Uint8Array[] | undefined, slice: number | null): Reading {
    const reading = new Reading(this.#parsed, levels, slice)
    reading.#timestamp = this.#timestamp
    return reading
  }

  /** For another rule, which may read other values: `unreadable` is not set. */
  again(): Reading {
    return this.at(this.#levels, this.slice)
  }

  get delivery(): Delivery {
    return this.#parsed.delivery
  }

  /** Unreadable if the form that holds it is, or has the field twice. */
  get document(): Uint8Array {
    if (this.#parsed.document === undefined) this.#parsed.document = this.#findDocument()
    return this.#certain(this.#parsed.document) ?? noBytes
  }

  #findDocument(): Uint8Array | null {
    const { rule, delivery } = this.#parsed
    const contentType = this.header('content-type')
    if (rule.form !== undefined && isForm(contentType)) {
      const form = this.#form()
      const text = form === null ? null : onlyValue(form, rule.form)
      return text === null ? null : Buffer.from(text ?? '', rule.base64 ? 'base64' : 'utf8')
    }
    if (rule.multipart === undefined) return delivery.body
    return multipartField(delivery.body, contentType, rule.multipart) ?? delivery.body
  }

  /** The whole delivery was verified before, and its signed data names the events. */
  get signedData(): SignedData {
    this.#parsed.signedData ??= this.#parsed.readSignedData?.() ?? noSignedData
    return this.#parsed.signedData
  }

  get timestamp(): string | undefined {
    return this.#timestamp ?? this.signedData.timestamp
  }

  set timestamp(text: string | undefined) {
    this.#timestamp = text
  }

  /** Level 0 is the slice, 1 the object around it, 2 the object around that, -1 the document. */
  level(level: number): Uint8Array {
    if (this.#levels === undefined || level < 0) return this.document
    return this.#levels[Math.min(level, this.#levels.length - 1)] ?? this.document
  }

  tokens(query: JsonQuery, slot: number, level: number): readonly JsonToken[] {
    return this.#certain(this.scan(query, this.level(level)))?.[slot] ?? noTokens
  }

  /** Null if the bytes are not unambiguous JSON. A query runs once over the same bytes. */
  scan(query: JsonQuery, bytes: Uint8Array): FoundTokens {
    const { found } = this.#parsed
    let byBytes = found.get(query)
    if (byBytes === undefined) {
      byBytes = new Map()
      found.set(query, byBytes)
    }
    let tokens = byBytes.get(bytes)
    if (tokens === undefined) {
      const result = query.read(bytes)
      tokens = result.ok ? result.values : null
      byBytes.set(bytes, tokens)
    }
    return tokens
  }

  header(name: string): string | undefined {
    const value = this.delivery.headers[name]
    return typeof value === 'string' ? value : undefined
  }

  form(name: string): string | undefined {
    return this.#certain(onlyValue(this.formPairs, name)) ?? undefined
  }

  query(name: string): string | undefined {
    return this.#certain(onlyValue(this.queryPairs, name)) ?? undefined
  }

  get formPairs(): Pairs {
    return this.#certain(this.#form()) ?? []
  }

  get queryPairs(): Pairs {
    if (this.#parsed.query === undefined) this.#parsed.query = parsePairs(queryOf(this.delivery.url))
    return this.#certain(this.#parsed.query) ?? []
  }

  /** A proxy may rewrite the URL that the sender called; `publicUrl` has the original. */
  get url(): string {
    const { publicUrl, delivery } = this.#parsed
    if (publicUrl === undefined) return delivery.url
    if (publicUrl.includes('?')) return publicUrl
    const query = queryOf(delivery.url)
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

  #form(): Pairs | null {
    if (this.#parsed.form === undefined)
      this.#parsed.form = isForm(this.header('content-type')) ? parseForm(this.delivery.body) : []
    return this.#parsed.form
  }

  #certain<Value>(value: Value): Value {
    if (value === null) this.unreadable = true
    return value
  }
}

function queryOf(url: string): string {
  const whole = url.split('#', 1)[0]!
  const start = whole.indexOf('?')
  return start < 0 ? '' : whole.slice(start + 1)
}
