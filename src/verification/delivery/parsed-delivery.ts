/** A delivery with everything parsed from it so far, shared by all its readings: nothing is parsed twice. */

import type { Delivery } from '../../provider.js'
import type { JsonQuery, JsonToken } from '../json.js'
import { isForm, multipartField, onlyValue, type Pairs, parseForm, parsePairs } from './body-formats.js'
import type { Chunk } from './template.js'

/** Where the JSON document of a delivery is, when it is not the body. */
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

/** The data that a scheme reads from a delivery, beside its verdict. */
export interface SignedData {
  /** The signed content, in order; null when nothing is signed (a shared token). */
  readonly signed: readonly Chunk[] | null
  /** The content that names the event: the signed content, and the body if the signature does not cover it. */
  readonly naming: readonly Chunk[] | null
  /** The text of the signed time. */
  readonly timestamp: string | undefined
  /** The claims of the token (JWT). */
  readonly claims: Readonly<Record<string, unknown>> | undefined
}

export const noSignedData: SignedData = {
  signed: null,
  naming: null,
  timestamp: undefined,
  claims: undefined,
}

/** The tokens of each path; null when the bytes cannot be read. */
export type FoundTokens = readonly (readonly JsonToken[])[] | null

export class ParsedDelivery {
  readonly delivery: Delivery
  readonly publicUrl: string | undefined
  readonly #rule: DocumentRule
  readonly #readSignedData: (() => SignedData) | undefined
  #signedData: SignedData | undefined
  #document: Uint8Array | null | undefined
  #form: Pairs | null | undefined
  #query: Pairs | null | undefined
  /** By query, then by its bytes. Slices share the bytes around them, so those are scanned once for all slices. */
  readonly #found = new Map<JsonQuery, Map<Uint8Array, FoundTokens>>()

  constructor(
    delivery: Delivery,
    rule: DocumentRule,
    publicUrl: string | undefined,
    readSignedData: (() => SignedData) | undefined,
  ) {
    this.delivery = delivery
    this.publicUrl = publicUrl
    this.#rule = rule
    this.#readSignedData = readSignedData
  }

  get signedData(): SignedData {
    this.#signedData ??= this.#readSignedData?.() ?? noSignedData
    return this.#signedData
  }

  tokens(query: JsonQuery, bytes: Uint8Array): FoundTokens {
    let byBytes = this.#found.get(query)
    if (byBytes === undefined) {
      byBytes = new Map()
      this.#found.set(query, byBytes)
    }
    let found = byBytes.get(bytes)
    if (found === undefined) {
      const result = query.read(bytes)
      found = result.ok ? result.values : null
      byBytes.set(bytes, found)
    }
    return found
  }

  header(name: string): string | undefined {
    const value = this.delivery.headers[name]
    return typeof value === 'string' ? value : undefined
  }

  /** Null: the content type is a form, and the body is not a valid one. */
  get form(): Pairs | null {
    if (this.#form === undefined)
      this.#form = isForm(this.header('content-type')) ? parseForm(this.delivery.body) : []
    return this.#form
  }

  get query(): Pairs | null {
    if (this.#query === undefined) this.#query = parsePairs(splitUrl(this.delivery.url).query)
    return this.#query
  }

  /** Null: the form that holds it cannot be read, or has the field twice. */
  get document(): Uint8Array | null {
    if (this.#document === undefined) this.#document = this.#findDocument()
    return this.#document
  }

  #findDocument(): Uint8Array | null {
    const { form, base64, multipart } = this.#rule
    const contentType = this.header('content-type')
    if (form !== undefined && isForm(contentType)) {
      const text = this.form === null ? null : onlyValue(this.form, form)
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
  const start = whole.indexOf('?')
  return start < 0
    ? { base: whole, query: '' }
    : { base: whole.slice(0, start), query: whole.slice(start + 1) }
}
