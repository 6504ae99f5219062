/**
 * One delivery while it is being read: what has been parsed so far, and whether anything could not be. Reads are
 * lazy, so a header scheme never parses the body. A reading is made per call and thrown away.
 */
import type { JsonQuery, JsonToken } from '../json.js'
import type { Delivery } from '../provider.js'
import { isForm, type Pairs, parseForm, parsePairs, single } from './form.js'
import { multipartField } from './multipart.js'

/** Where the JSON document of a delivery is, when it is not simply the body. */
export interface DocumentRule {
  /** In this field when the body is form-encoded (`payload=<json>`); the body itself otherwise. */
  readonly form?: string
  /** The form field holds base64 of the document (Braintree). */
  readonly base64?: true
  /** In this field when the body is multipart. */
  readonly multipart?: string
  /** One JSON document per line; each line is a part. */
  readonly lines?: true
}

const noTokens: readonly JsonToken[] = []

export class Reading {
  readonly delivery: Delivery
  /** Set by the first thing that could not be read for certain; what was read beside it is not to be trusted. */
  unreadable = false
  /** The text of the timestamp as the sender wrote it, once the scheme has found it. */
  timestamp: string | undefined
  /** Claims of the token, once the scheme has verified it or identify has opened it. */
  claims: Readonly<Record<string, unknown>> | undefined
  /** Position of the part within its list. */
  index = 0
  readonly #rule: DocumentRule
  readonly #publicUrl: string | undefined
  /** The part itself, what encloses it, ... and at the end the document. */
  readonly #levels: readonly Uint8Array[] | undefined
  #found: Map<JsonQuery, readonly (readonly JsonToken[])[]> | undefined
  #document: Uint8Array | undefined
  #form: Pairs | undefined
  #query: Pairs | undefined

  constructor(
    delivery: Delivery,
    rule: DocumentRule = {},
    publicUrl?: string,
    levels?: readonly Uint8Array[],
  ) {
    this.delivery = delivery
    this.#rule = rule
    this.#publicUrl = publicUrl
    this.#levels = levels
  }

  /** The same delivery, seen from one of its parts. */
  part(levels: readonly Uint8Array[], index: number): Reading {
    const reading = new Reading(this.delivery, this.#rule, this.#publicUrl, levels)
    reading.#document = this.document
    reading.#form = this.#form
    reading.#query = this.#query
    reading.claims = this.claims
    reading.timestamp = this.timestamp
    reading.index = index
    return reading
  }

  get document(): Uint8Array {
    this.#document ??= this.#findDocument()
    return this.#document
  }

  /** Level 0 is the part; each level further is what encloses it; -1 is the document. */
  level(level: number): Uint8Array {
    if (this.#levels === undefined || level < 0) return this.document
    return this.#levels[Math.min(level, this.#levels.length - 1)] ?? this.document
  }

  /** All tokens at one path of a query, run at most once per level and reading. */
  tokens(query: JsonQuery, slot: number, level: number): readonly JsonToken[] {
    let values = this.#found?.get(query)
    if (values === undefined) {
      const result = query.read(this.level(level))
      if (!result.ok) this.unreadable = true
      values = result.ok ? result.values : []
      this.#found ??= new Map()
      this.#found.set(query, values)
    }
    return values[slot] ?? noTokens
  }

  header(name: string): string | undefined {
    const value = this.delivery.headers[name]
    return typeof value === 'string' ? value : undefined
  }

  form(name: string): string | undefined {
    return this.#single(this.formPairs, name)
  }

  query(name: string): string | undefined {
    return this.#single(this.queryPairs, name)
  }

  get formPairs(): Pairs {
    if (this.#form === undefined) {
      const pairs = isForm(this.header('content-type')) ? parseForm(this.delivery.body) : []
      if (pairs === null) this.unreadable = true
      this.#form = pairs ?? []
    }
    return this.#form
  }

  get queryPairs(): Pairs {
    if (this.#query === undefined) {
      const pairs = parsePairs(splitUrl(this.delivery.url).query)
      if (pairs === null) this.unreadable = true
      this.#query = pairs ?? []
    }
    return this.#query
  }

  /** The URL the sender called. Behind a proxy that rewrites it, the option `publicUrl` says what it was. */
  get url(): string {
    if (this.#publicUrl === undefined) return this.delivery.url
    if (this.#publicUrl.includes('?')) return this.#publicUrl
    const { query } = splitUrl(this.delivery.url)
    return query === '' ? this.#publicUrl : `${this.#publicUrl}?${query}`
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

  #findDocument(): Uint8Array {
    const { form, base64, multipart } = this.#rule
    const contentType = this.header('content-type')
    if (form !== undefined && isForm(contentType))
      return Buffer.from(this.form(form) ?? '', base64 ? 'base64' : 'utf8')
    if (multipart !== undefined) {
      const field = multipartField(this.delivery.body, contentType, multipart)
      if (field !== null) return field
    }
    return this.delivery.body
  }
}

export function splitUrl(url: string): { readonly base: string; readonly query: string } {
  const hash = url.indexOf('#')
  const whole = hash < 0 ? url : url.slice(0, hash)
  const mark = whole.indexOf('?')
  return mark < 0 ? { base: whole, query: '' } : { base: whole.slice(0, mark), query: whole.slice(mark + 1) }
}
