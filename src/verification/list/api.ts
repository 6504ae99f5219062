/**
 * Requests to the API of a sender. Each has a time limit and a limit of bytes, and none leaves the origin of `baseUrl` or
 * follows a redirect: the key must not go anywhere else. A sender that asks for patience (429, `Retry-After`) or fails
 * (5xx, no answer) is asked again a few times. An error names the request and never has the key.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HookonceError } from '../../errors.js'
import { ApiJson } from './api-json.js'

export interface SenderApi {
  /** The options of the source, with their defaults. */
  readonly options: Readonly<Record<string, unknown>>
  /** `path` begins with a slash, or is a URL of the sender, such as the next page. */
  get(path: string, request?: ApiRequest): Promise<ApiAnswer>
  /** Null when the sender answers 404 or 410. */
  find(path: string, request?: ApiRequest): Promise<ApiAnswer | null>
  post(path: string, request?: ApiRequest): Promise<ApiAnswer>
}

export interface ApiRequest {
  /** A list repeats the name. Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, `URLSearchParams` as a form. */
  readonly body?: object
}

export interface ApiAnswer {
  readonly json: ApiJson
  readonly headers: Headers
  /** The URL in the `Link` header with `rel="next"`. */
  readonly next: string | null
}

export interface ApiSettings {
  readonly name: string
  readonly baseUrl: string
  readonly options: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Headers that prove the caller. `renew`: the sender has refused the last ones. */
  readonly authorize: (renew: boolean) => Promise<Readonly<Record<string, string>>>
  readonly conceal: (text: string) => string
  /** Which key the sender needs. */
  readonly keyNeeded: string
}

const TIMEOUT_MS = 30_000
const MAX_BYTES = 32 * 1024 * 1024
const MAX_TRIES = 6
const FIRST_PAUSE_MS = 500
/** A sender that asks for more patience is left to the next run. */
const MAX_PAUSE_MS = 2 * 60_000
const SAID_CHARACTERS = 200

export class HttpSenderApi implements SenderApi {
  readonly options: SenderApi['options']
  /** Requests that were sent, with those that failed. */
  requests = 0
  readonly #settings: ApiSettings

  constructor(settings: ApiSettings) {
    this.options = settings.options
    this.#settings = settings
  }

  async get(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.#answered('GET', path, request)
  }

  async post(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.#answered('POST', path, request)
  }

  async find(path: string, request: ApiRequest = {}): Promise<ApiAnswer | null> {
    return this.#exchange('GET', path, request, true)
  }

  async #answered(method: string, path: string, request: ApiRequest): Promise<ApiAnswer> {
    return (await this.#exchange(method, path, request, false))!
  }

  async #exchange(method: string, path: string, request: ApiRequest, mayBeAbsent: boolean) {
    const { signal } = this.#settings
    const url = this.#urlOf(path, request.query)
    const what = `${method} ${url.pathname}`
    let renew = false
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#once(method, url, request, renew)
      signal.throwIfAborted()
      if ('body' in outcome && outcome.status < 300) return this.#read(what, outcome)
      if ('body' in outcome && mayBeAbsent && (outcome.status === 404 || outcome.status === 410)) return null
      // A token that has expired during the run.
      if ('body' in outcome && outcome.status === 401 && !renew && tries < MAX_TRIES) {
        renew = true
        continue
      }
      renew = false
      const pauseMs = pauseOf(outcome, tries)
      if (pauseMs === null) throw this.#refused(what, outcome as Answered)
      if (tries === MAX_TRIES || pauseMs > MAX_PAUSE_MS) throw this.#failed(what, problemOf(outcome, pauseMs))
      await sleep(pauseMs, undefined, { signal })
    }
  }

  async #once(method: string, url: URL, { headers, body }: ApiRequest, renew: boolean): Promise<Outcome> {
    const { signal, authorize } = this.#settings
    const proof = await authorize(renew)
    const form = body instanceof URLSearchParams
    this.requests += 1
    try {
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          accept: 'application/json',
          'user-agent': 'hookonce',
          ...(body && { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }),
          ...this.#settings.headers,
          ...headers,
          ...proof,
        },
        ...(body && { body: form ? String(body) : JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, body: await readUpTo(response) }
    } catch (error) {
      return { problem: reasonOf(error) }
    }
  }

  #urlOf(path: string, query: ApiRequest['query'] = {}): URL {
    const base = this.#settings.baseUrl.replace(/\/+$/, '')
    const url = new URL(path.startsWith('/') ? `${base}${path}` : path, `${base}/`)
    if (url.origin !== new URL(base).origin)
      throw this.#failed(
        'the next page',
        `it is at ${url.origin}, and the key is only for ${new URL(base).origin}`,
      )
    for (const [name, value] of Object.entries(query))
      for (const text of value === undefined ? [] : [value].flat())
        url.searchParams.append(name, String(text))
    return url
  }

  #read(what: string, { headers, body }: Answered): ApiAnswer {
    if (body === null) throw this.#failed(what, `the answer has more than ${MAX_BYTES} bytes`)
    const json = new ApiJson(body.byteLength === 0 ? Buffer.from('null') : body)
    if (!json.isJson) throw this.#failed(what, 'the answer is not JSON')
    return { json, headers, next: nextOf(headers.get('link')) }
  }

  #refused(what: string, { status, body }: Answered): HookonceError {
    const { name, keyNeeded } = this.#settings
    const said = this.#said(body)
    const fix =
      status === 401 || status === 403 || status === 404
        ? `Check the option apiKey (${keyNeeded}) and what it names`
        : 'Check the options of the source'
    return new HookonceError('SENDER_REFUSED', { name, what, status, said, fix })
  }

  #failed(what: string, problem: string): HookonceError {
    return new HookonceError('SENDER_FAILED', { name: this.#settings.name, what, problem })
  }

  /** What the sender says of its refusal: an error of its API, never an event. */
  #said(body: Buffer | null): string {
    const json = new ApiJson(body ?? Buffer.alloc(0))
    const paths = ['error.message', 'message', 'error_description', 'detail', 'error', 'errors.0.detail']
    const text = paths.map((path) => json.text(path)).find((found) => found !== undefined)
    if (text === undefined) return ''
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters to remove
    const plain = this.#settings.conceal(text).replace(/[\u0000-\u001f\u007f]+/g, ' ')
    return ` ("${plain.slice(0, SAID_CHARACTERS)}")`
  }
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  /** Null: larger than allowed. */
  readonly body: Buffer | null
}

type Outcome = Answered | { readonly problem: string }

/** Null: another request would be refused too. */
function pauseOf(outcome: Outcome, tries: number): number | null {
  const backoff = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random())
  if ('problem' in outcome) return backoff
  const { status, headers } = outcome
  // GitHub and others refuse with 403 when the limit is used up.
  const isLimited = status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')
  if (!isLimited && status < 500 && status !== 408) return null
  const asked = retryAfterMs(headers) ?? (isLimited ? resetMs(headers) : null)
  return asked === null ? backoff : Math.max(asked, tries > 1 ? backoff : 0)
}

function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim()
  if (!text) return null
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - senderNow(headers))
}

const resetHeaders = ['x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset']

/** Seconds since 1970 (GitHub, Okta), seconds from now (the draft of the IETF), or a date (GoCardless). */
function resetMs(headers: Headers): number | null {
  const text = resetHeaders.map((name) => headers.get(name)).find((value) => value !== null)
  if (!text) return null
  const at = Number.isFinite(Number(text)) ? Number(text) * 1_000 : Date.parse(text)
  if (Number.isNaN(at)) return null
  return Math.max(1_000, at > 1e12 ? at - senderNow(headers) : at)
}

function senderNow(headers: Headers): number {
  const at = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(at) ? Date.now() : at
}

function problemOf(outcome: Outcome, pauseMs: number): string {
  if ('problem' in outcome) return outcome.problem
  const wait = pauseMs > MAX_PAUSE_MS ? `, and asks for a pause of ${Math.ceil(pauseMs / 1_000)} seconds` : ''
  return `it answers with status ${outcome.status}${wait}`
}

/** The message of a failed fetch is always "fetch failed"; the cause has the code of the system. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } }
  if (name === 'TimeoutError') return `no answer within ${TIMEOUT_MS} ms`
  return typeof cause?.code === 'string' ? cause.code : 'the connection was closed without an answer'
}

async function readUpTo(response: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // A return cancels the body.
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function nextOf(link: string | null): string | null {
  return link?.match(/<([^>]+)>\s*;[^,]*\brel="?next"?/)?.[1] ?? null
}
