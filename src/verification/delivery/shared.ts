/** What all readings of one delivery have in common: each thing is parsed once, however many parts ask for it. */

import type { Delivery } from '../../provider.js'
import type { JsonQuery, JsonToken } from '../json.js'
import { isForm, type Pairs, parseForm, parsePairs, single } from './form.js'
import { multipartField } from './multipart.js'
import type { Chunk } from './template.js'

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

/** What a scheme knows of a delivery beside its verdict. */
export interface Opened {
  /** What was signed, in order; null where nothing was (a shared token). */
  readonly signed: readonly Chunk[] | null
  /** What tells this delivery from others: the signed content, and the body where the signature does not cover it. */
  readonly naming: readonly Chunk[] | null
  /** The signed time, as the sender wrote it. */
  readonly timestamp: string | undefined
  /** The claims of its token. */
  readonly claims: Readonly<Record<string, unknown>> | undefined
}

export const nothingOpened: Opened = {
  signed: null,
  naming: null,
  timestamp: undefined,
  claims: undefined,
}

/** Null: the bytes could not be read. */
export type Found = readonly (readonly JsonToken[])[] | null

export class Shared {
  readonly delivery: Delivery
  readonly publicUrl: string | undefined
  /** JSON.parse would block for seconds on what was found so far. */
  tooDeep = false
  readonly #rule: DocumentRule
  readonly #open: (() => Opened) | undefined
  #opened: Opened | undefined
  #document: Uint8Array | null | undefined
  #form: Pairs | null | undefined
  #query: Pairs | null | undefined
  /** By query, then by the bytes it ran over: what encloses several parts is one object for all of them. */
  readonly #found = new Map<JsonQuery, Map<Uint8Array, Found>>()

  constructor(
    delivery: Delivery,
    rule: DocumentRule,
    publicUrl: string | undefined,
    open: (() => Opened) | undefined,
  ) {
    this.delivery = delivery
    this.publicUrl = publicUrl
    this.#rule = rule
    this.#open = open
  }

  get opened(): Opened {
    this.#opened ??= this.#open?.() ?? nothingOpened
    return this.#opened
  }

  tokens(query: JsonQuery, bytes: Uint8Array): Found {
    let byBytes = this.#found.get(query)
    if (byBytes === undefined) {
      byBytes = new Map()
      this.#found.set(query, byBytes)
    }
    let found = byBytes.get(bytes)
    if (found === undefined) {
      const result = query.read(bytes)
      found = result.ok ? result.values : null
      if (!result.ok && result.reason === 'too_deep') this.tooDeep = true
      byBytes.set(bytes, found)
    }
    return found
  }

  header(name: string): string | undefined {
    const value = this.delivery.headers[name]
    return typeof value === 'string' ? value : undefined
  }

  /** Null: it is a form, and cannot be read as one. */
  get form(): Pairs | null {
    if (this.#form === undefined)
      this.#form = isForm(this.header('content-type')) ? parseForm(this.delivery.body) : []
    return this.#form
  }

  get query(): Pairs | null {
    if (this.#query === undefined) this.#query = parsePairs(splitUrl(this.delivery.url).query)
    return this.#query
  }

  /** Null: the form it is in cannot be read, or has the field twice. */
  get document(): Uint8Array | null {
    if (this.#document === undefined) this.#document = this.#findDocument()
    return this.#document
  }

  #findDocument(): Uint8Array | null {
    const { form, base64, multipart } = this.#rule
    const contentType = this.header('content-type')
    if (form !== undefined && isForm(contentType)) {
      const text = this.form === null ? null : single(this.form, form)
      return text === null ? null : Buffer.from(text ?? '', base64 ? 'base64' : 'utf8')
    }
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
