/** The event as its handler sees it. Its payload is a slice of the stored delivery. */
import { type ClaimedEvent, followedSource } from '../model.js'
import type { Delivery, Source, StoredSlice } from '../provider.js'
import { isForm } from '../verification/delivery/body-formats.js'
import type { HandledEvent } from './handler.js'

export function asHandledEvent(source: Source, claimed: ClaimedEvent, body: Uint8Array): HandledEvent {
  let parsed: { value: unknown } | null = null
  return {
    source: followedSource(claimed.source),
    id: claimed.id,
    type: claimed.type,
    reference: claimed.reference,
    raw: body,
    get slice() {
      return eventBytes(source, claimed, body)
    },
    headers: claimed.headers,
    receivedAt: claimed.receivedAt,
    get payload() {
      parsed ??= { value: sliceOf(source, claimed, body)?.parse() ?? null }
      return parsed.value
    },
  }
}

/** Replaces the payload. All fields are own fields of the result: a spread or JSON.stringify keeps them. */
export function withPayload(event: HandledEvent, payload: unknown): HandledEvent {
  const { source, id, type, reference, raw, slice, headers, receivedAt } = event
  return { source, id, type, reference, raw, slice, headers, receivedAt, payload }
}

/** False when the delivery carries several events. */
export function isWholeDelivery(source: Source, { headers, body }: ClaimedEvent): boolean {
  return body !== null && slicesOf(source, headers, body).length === 1
}

/** All of the body when the delivery is one event, or when no slice is certain to be this event. */
export function eventBytes(source: Source, claimed: ClaimedEvent, body: Uint8Array): Uint8Array {
  return sliceOf(source, claimed, body)?.bytes ?? body
}

/** Null when no slice is certain to belong to this event: no payload is better than the payload of another event. */
function sliceOf(source: Source, claimed: ClaimedEvent, body: Uint8Array): StoredSlice | null {
  const slices = slicesOf(source, claimed.headers, body)
  const { id: eventId, type, reference, part } = claimed
  const atPosition = slices[part]
  // A delivery of one event is that event, even if the rules of the provider have changed since it was recorded.
  if (atPosition?.isWhole && slices.length === 1) return atPosition
  if (atPosition?.id === eventId) return atPosition
  const withId = slices.find(({ id }) => id === eventId)
  if (withId !== undefined) return withId
  // The id came from a header that is not stored, or from the signature: the position decides.
  if (atPosition === undefined || atPosition.id === null) return atPosition ?? null
  return atPosition.type === type && atPosition.reference === reference ? atPosition : null
}

/**
 * Deliveries that were split lately. The events of one delivery are handled at about the same time; to split the delivery
 * again for each of them would take time that grows with the square of their number.
 */
const splitDeliveries = new WeakMap<Source, SplitDelivery[]>()
const CACHED_DELIVERIES = 8
/** All cached deliveries of a source together. A larger delivery is not cached. */
const CACHED_BYTES = 16 * 1024 * 1024

interface SplitDelivery {
  readonly headers: string
  readonly body: Uint8Array
  readonly slices: readonly StoredSlice[]
}

function slicesOf(
  source: Source,
  headers: ClaimedEvent['headers'],
  body: Uint8Array,
): readonly StoredSlice[] {
  const cached = splitDeliveries.get(source) ?? []
  const known = cached.find((delivery) => isEqual(delivery.body, body) && hasHeaders(delivery, headers))
  if (known !== undefined) return known.slices
  const slices = split(source, { method: 'POST', url: 'http://localhost/', headers, body })
  // Only slices that are parsed again for each attempt: a handler may change its payload.
  if (slices.length > 1 && source.slices)
    splitDeliveries.set(source, bounded([{ headers: JSON.stringify(headers), body, slices }, ...cached]))
  return slices
}

function bounded(deliveries: readonly SplitDelivery[]): SplitDelivery[] {
  let bytes = 0
  return deliveries.slice(0, CACHED_DELIVERIES).filter(({ body }) => {
    bytes += body.byteLength
    return bytes <= CACHED_BYTES
  })
}

function hasHeaders(delivery: SplitDelivery, headers: ClaimedEvent['headers']): boolean {
  return delivery.headers === JSON.stringify(headers)
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.byteLength === b.byteLength && Buffer.compare(a, b) === 0)
}

/** A provider that was not made by `defineProvider` has no `slices`, and its `identify` may need headers that are not stored. */
function split(source: Source, delivery: Delivery): readonly StoredSlice[] {
  if (source.slices) return source.slices(delivery)
  const events = source.identify(delivery)
  if (events.length === 0)
    return [
      {
        id: null,
        type: '',
        reference: null,
        isWhole: true,
        bytes: delivery.body,
        parse: () => parseBody(delivery),
      },
    ]
  const isWhole = events.length === 1
  return events.map((event) => {
    const { id, type, reference } = event
    const bytes = isWhole ? delivery.body : Buffer.from(JSON.stringify(event.payload) ?? '')
    return { id, type, reference, isWhole, bytes, parse: () => event.payload }
  })
}

/** A form as an object without prototype, JSON as its value, anything else as text. */
function parseBody({ headers, body }: Delivery): unknown {
  const text = new TextDecoder().decode(body)
  if (isForm(headers['content-type'])) {
    return Object.assign(Object.create(null), Object.fromEntries(new URLSearchParams(text)))
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
