/**
 * The sender of the test events. Each forged delivery is verified here first, so that an endpoint is only blamed for
 * accepting a delivery that really is invalid.
 */
import { invalid } from '../errors.js'
import type { Delivery, SignOptions, Source } from '../provider.js'
import { changedBodies, parseJson } from './change.js'

/** An event and its content. It is signed again for each delivery, as senders do. */
export interface SentEvent {
  /** The id by the rules of the provider. */
  readonly id: string
  readonly content: SignOptions
}

export interface Sender {
  readonly source: Source
  readonly type: string
  /** A new event; `at` is its time, where the content has one. */
  event(at?: number): Promise<SentEvent>
  /** The event as a signed delivery; `now` is the signed time. */
  delivery(event: SentEvent, now?: number): Promise<Delivery>
  /** The same id with one other value; null when every change also changes the id. */
  changed(event: SentEvent): Promise<SentEvent | null>
  /** The same event in another spelling; null when the signature does not cover the bytes of a JSON object. */
  spelled(event: SentEvent, write: (document: object) => string): SentEvent | null
  /** Invalid deliveries; null when the sender's scheme cannot detect this change. */
  tampered(event: SentEvent): Promise<Delivery | null>
  unsigned(event: SentEvent): Promise<Delivery | null>
  /** Signed with another secret. */
  forged(event: SentEvent): Promise<Delivery | null>
  /** A signature of the wrong length. */
  mangled(event: SentEvent): Promise<Delivery | null>
  stale(event: SentEvent): Promise<Delivery | null>
}

const HOUR_MS = 3_600_000

export function createSender(source: Source, url: URL, wantedType?: string): Sender {
  if (wantedType !== undefined && source.sampleTypes.length > 0 && !source.sampleTypes.includes(wantedType)) {
    // Most samples accept any type. A sender whose type is not in the body has only the types of its samples.
    const sample = source.sample({ type: wantedType, now: Date.now() })
    if (sample.type !== wantedType)
      throw invalid(`The type ${wantedType}`, `has no sample for ${source.name}; choose another with --type`)
  }
  const type = wantedType ?? source.sampleTypes[0] ?? 'test'

  const delivery = async (event: SentEvent, now = Date.now()): Promise<Delivery> =>
    source.sign({ ...event.content, now })
  const idOf = (signed: Delivery) => source.identify(signed)[0]?.id
  const isValid = async (candidate: Delivery) => (await source.verify(candidate, { now: Date.now() })).ok
  const onlyIfInvalid = async (candidate: Delivery | null) =>
    candidate === null || (await isValid(candidate)) ? null : candidate

  async function event(at = Date.now()): Promise<SentEvent> {
    const sample = source.sample({ type, now: at })
    const content = { ...sample, url: withQuery(url, sample.url).href }
    const id = idOf(await delivery({ id: '', content }))
    if (id === undefined)
      throw invalid(`The provider ${source.key}`, 'has no sample event with an id, so it cannot be checked')
    return { id, content }
  }

  async function changed(original: SentEvent): Promise<SentEvent | null> {
    const bytes = bytesOf(original.content)
    for (const body of changedBodies(bytes, original.content.headers?.['content-type'])) {
      const other = { id: original.id, content: { ...original.content, body } }
      // Some values choose the way of signing: with another value the event cannot be signed.
      const signed = await delivery(other).catch(() => null)
      if (signed && idOf(signed) === original.id && !Buffer.from(signed.body).equals(bytes)) return other
    }
    return null
  }

  return {
    source,
    type,
    event,
    delivery,
    changed,
    spelled(event, write) {
      const document = parseJson(bytesOf(event.content))
      if (source.scheme.covers.body !== 'bytes' || !isObject(document)) return null
      return { id: event.id, content: { ...event.content, body: write(document) } }
    },
    async tampered(event) {
      const signed = await delivery(event)
      for (const body of changedBodies(signed.body, signed.headers['content-type'])) {
        const invalidDelivery = await onlyIfInvalid({ ...signed, body })
        if (invalidDelivery !== null) return invalidDelivery
      }
      return null
    },
    unsigned: async (event) => onlyIfInvalid(withSignature(source, await delivery(event), null)),
    mangled: async (event) => onlyIfInvalid(withSignature(source, await delivery(event), 'x')),
    async forged(event) {
      const forger = source.impostor?.()
      return onlyIfInvalid(forger ? await forger.sign({ ...event.content, now: Date.now() }) : null)
    },
    async stale(event) {
      const toleranceMs = source.scheme.timestamp?.toleranceMs ?? null
      if (toleranceMs === null) return null
      return onlyIfInvalid(await delivery(event, Date.now() - Math.max(HOUR_MS, 2 * toleranceMs)))
    },
  }
}

/** Some spellings append a member to the last one, so the object must have one. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function bytesOf({ body }: SignOptions): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
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
