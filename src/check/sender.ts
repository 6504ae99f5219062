/** Each forged delivery is verified here first: an endpoint must not be blamed for accepting a valid one. */
import { invalid } from '../errors.js'
import type { Delivery, SignOptions, Source } from '../provider.js'
import { conflicting, parseJson, tampered } from './change.js'

/** It is signed again for each delivery, as senders do. */
export interface SentEvent {
  readonly id: string
  readonly content: SignOptions
}

const HOUR_MS = 3_600_000

export class Sender {
  readonly source: Source
  readonly type: string
  readonly #url: URL

  constructor(source: Source, url: URL, wanted?: string) {
    if (wanted !== undefined && source.sampleTypes.length > 0 && !source.sampleTypes.includes(wanted)) {
      // Most samples accept any type. A sender whose type is not in the body has only the types of its samples.
      const sample = source.sample({ type: wanted, now: Date.now() })
      if (sample.type !== wanted)
        throw invalid(`The type ${wanted}`, `has no sample for ${source.name}; choose another with --type`)
    }
    this.source = source
    this.type = wanted ?? source.sampleTypes[0] ?? 'test'
    this.#url = url
  }

  /** `at` is the time in the content, where it has one. */
  async event(at = Date.now()): Promise<SentEvent> {
    const sample = this.source.sample({ type: this.type, now: at })
    const content = { ...sample, url: withQuery(this.#url, sample.url).href }
    const id = this.source.identify(await this.delivery({ id: '', content }))[0]?.id
    if (id === undefined)
      throw invalid(
        `The provider ${this.source.key}`,
        'has no sample event with an id, so it cannot be checked',
      )
    return { id, content }
  }

  /** `now` is the signed time. */
  async delivery(event: SentEvent, now = Date.now()): Promise<Delivery> {
    return this.source.sign({ ...event.content, now })
  }

  async changed({ id, content }: SentEvent): Promise<SentEvent | null> {
    for await (const { changed } of conflicting(this.source, content)) return { id, content: changed }
    return null
  }

  /** Null when the signature does not cover the bytes of a JSON object. */
  spelled({ id, content }: SentEvent, write: (document: object) => string): SentEvent | null {
    const document = parseJson(Buffer.from(content.body))
    if (this.source.scheme.covers.body !== 'bytes' || !isObject(document)) return null
    return { id, content: { ...content, body: write(document) } }
  }

  // The next ones are invalid deliveries. They are null when the scheme of the sender cannot detect the change.

  async tampered(event: SentEvent): Promise<Delivery | null> {
    return tampered(this.source, await this.delivery(event))
  }

  async unsigned(event: SentEvent): Promise<Delivery | null> {
    return this.#onlyIfInvalid(withSignature(this.source, await this.delivery(event), null))
  }

  /** The signature has the wrong length. */
  async mangled(event: SentEvent): Promise<Delivery | null> {
    return this.#onlyIfInvalid(withSignature(this.source, await this.delivery(event), 'x'))
  }

  /** Signed with another secret. */
  async forged(event: SentEvent): Promise<Delivery | null> {
    const forger = this.source.impostor?.()
    return this.#onlyIfInvalid(forger ? await forger.sign({ ...event.content, now: Date.now() }) : null)
  }

  async stale(event: SentEvent): Promise<Delivery | null> {
    const toleranceMs = this.source.scheme.timestamp?.toleranceMs ?? null
    if (toleranceMs === null) return null
    return this.#onlyIfInvalid(await this.delivery(event, Date.now() - Math.max(HOUR_MS, 2 * toleranceMs)))
  }

  async #onlyIfInvalid(candidate: Delivery | null): Promise<Delivery | null> {
    if (candidate === null) return null
    return (await this.source.verify(candidate, { now: Date.now() })).ok ? null : candidate
  }
}

/** It must have a member: some spellings append another one to it. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

/** Some senders identify the event in the query of the URL. */
function withQuery(target: URL, sample: string | undefined): URL {
  const url = new URL(target)
  if (sample === undefined) return url
  for (const [name, value] of new URL(sample).searchParams) url.searchParams.append(name, value)
  return url
}

/** Removes the signature, or replaces it by `text`. Null when the signature is in the body. */
function withSignature(source: Source, signed: Delivery, text: string | null): Delivery | null {
  const headers: Record<string, string> = { ...signed.headers }
  const url = new URL(signed.url)
  let found = false
  for (const field of source.scheme.signatureIn) {
    const [, kind, name = ''] = /^(header|query):(.+)$/.exec(field) ?? []
    if (kind === 'header' && headers[name] !== undefined) {
      found = true
      if (text === null) delete headers[name]
      else headers[name] = text
    } else if (kind === 'query' && url.searchParams.has(name)) {
      found = true
      if (text === null) url.searchParams.delete(name)
      else url.searchParams.set(name, text)
    }
  }
  return found ? { ...signed, headers, url: url.href } : null
}
