/**
 * A sender of synthetic events: what the examined endpoint gets to see. Every way to be wrong is judged by our own
 * verifier first, so that a delivery that is said to be bad is bad.
 */
import { invalid } from '../errors.js'
import type { Delivery, SignOptions, Source } from '../provider.js'
import { changedBodies, parsed } from './change.js'

/** An event and its content; it is signed anew for each delivery, as senders do. */
export interface SentEvent {
  /** As the provider's rules name it. */
  readonly id: string
  readonly content: SignOptions
}

export interface Sender {
  readonly source: Source
  readonly type: string
  /** A new event; `at` says when it happened, where its content tells. */
  event(at?: number): Promise<SentEvent>
  /** The event as a signed delivery; `now` is the signed time. */
  delivery(event: SentEvent, now?: number): Promise<Delivery>
  /** The same id with another value in it; null where nothing can be changed without changing the id. */
  changed(event: SentEvent): Promise<SentEvent | null>
  /** The same event in another spelling; null where the signature is not over the bytes of a JSON object. */
  spelled(event: SentEvent, write: (document: object) => string): SentEvent | null
  /** Deliveries that must not be believed; null where the sender's scheme cannot tell. */
  tampered(event: SentEvent): Promise<Delivery | null>
  unsigned(event: SentEvent): Promise<Delivery | null>
  /** Signed, but not with the secret. */
  forged(event: SentEvent): Promise<Delivery | null>
  /** A signature that is not even of the right length. */
  mangled(event: SentEvent): Promise<Delivery | null>
  stale(event: SentEvent): Promise<Delivery | null>
}

const HOUR_MS = 3_600_000

export function createSender(source: Source, forger: Source, url: URL, wantedType?: string): Sender {
  if (wantedType !== undefined && source.sampleTypes.length > 0 && !source.sampleTypes.includes(wantedType)) {
    // Any type can be written into a sample; only a sender whose type is not in it cannot be asked for one.
    const sample = source.sample({ type: wantedType, now: Date.now() })
    if (sample.type !== wantedType)
      throw invalid(`The type ${wantedType}`, `has no sample for ${source.name}; choose another with --type`)
  }
  const type = wantedType ?? source.sampleTypes[0] ?? 'test'

  const delivery = async (event: SentEvent, now = Date.now()): Promise<Delivery> =>
    source.sign({ ...event.content, now })
  const idOf = (one: Delivery) => source.identify(one)[0]?.id
  const believed = async (one: Delivery) => (await source.verify(one, { now: Date.now() })).ok
  const onlyIfBad = async (one: Delivery | null) => (one === null || (await believed(one)) ? null : one)

  async function event(at = Date.now()): Promise<SentEvent> {
    const sample = source.sample({ type, now: at })
    const content = { ...sample, url: withQuery(url, sample.url).href }
    const id = idOf(await delivery({ id: '', content }))
    if (id === undefined)
      throw invalid(`The provider ${source.key}`, 'has no sample event with an id, so it cannot be checked')
    return { id, content }
  }

  async function changed(given: SentEvent): Promise<SentEvent | null> {
    const bytes = bytesOf(given.content)
    for (const body of changedBodies(bytes, given.content.headers?.['content-type'])) {
      const other = { id: given.id, content: { ...given.content, body } }
      // Some values decide how it is signed: with those changed it cannot be.
      const signed = await delivery(other).catch(() => null)
      if (signed && idOf(signed) === given.id && !Buffer.from(signed.body).equals(bytes)) return other
    }
    return null
  }

  return {
    source,
    type,
    event,
    delivery,
    changed,
    spelled(given, write) {
      const document = parsed(bytesOf(given.content))
      if (source.scheme.covers.body !== 'bytes' || !isObject(document)) return null
      return { id: given.id, content: { ...given.content, body: write(document) } }
    },
    async tampered(given) {
      const signed = await delivery(given)
      for (const body of changedBodies(signed.body, signed.headers['content-type'])) {
        const bad = await onlyIfBad({ ...signed, body })
        if (bad !== null) return bad
      }
      return null
    },
    unsigned: async (given) => onlyIfBad(withSignature(source, await delivery(given), null)),
    mangled: async (given) => onlyIfBad(withSignature(source, await delivery(given), 'x')),
    forged: async (given) => onlyIfBad(await forger.sign({ ...given.content, now: Date.now() })),
    async stale(given) {
      const toleranceMs = source.scheme.timestamp?.toleranceMs ?? null
      if (toleranceMs === null) return null
      return onlyIfBad(await delivery(given, Date.now() - Math.max(HOUR_MS, 2 * toleranceMs)))
    },
  }
}

/** With members: some spellings add one behind the last. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function bytesOf({ body }: SignOptions): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

/** Some senders put what names the event into the query of the URL. */
function withQuery(target: URL, sample: string | undefined): URL {
  const url = new URL(target)
  if (sample === undefined) return url
  for (const [name, value] of new URL(sample).searchParams) url.searchParams.append(name, value)
  return url
}

/** Without its signature, or with another text in its place. Null where the signature is in the body. */
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
