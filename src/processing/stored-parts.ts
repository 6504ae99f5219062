/**
 * The part of a stored delivery that is an event's payload. A delivery is taken apart once for all its events that
 * are handled at about the same time: doing it for each would take the square of their number.
 */

import type { ClaimedEvent } from '../model.js'
import type { Delivery, Source, StoredSlice } from '../provider.js'
import { isForm } from '../verification/delivery/body-formats.js'

type Claimed = Pick<ClaimedEvent, 'eventId' | 'eventType' | 'reference' | 'part' | 'headers'>

/** Null when none of the parts can be said to be this event: better no payload than another event's. */
export function partOf(source: Source, claimed: Claimed, body: Uint8Array): StoredSlice | null {
  const parts = partsOf(source, claimed.headers, body)
  const { eventId, eventType, reference, part } = claimed
  const at = parts[part]
  if (at?.id === eventId) return at
  const named = parts.find(({ id }) => id === eventId)
  if (named !== undefined) return named
  // The id was in a header that is not kept, or in the signature: the position says which part it is.
  if (at === undefined || at.id === null) return at ?? null
  // The rules have changed since it was recorded. A delivery that is one event is that event.
  if (at.isWhole && parts.length === 1) return at
  return at.type === eventType && at.reference === reference ? at : null
}

interface Kept {
  readonly headers: string
  readonly body: Uint8Array
  readonly parts: readonly StoredSlice[]
}

const MOST_KEPT = 8
/** Together; a larger delivery is taken apart for each of its events that is claimed alone. */
const MOST_BYTES = 16 * 1024 * 1024
const keptOf = new WeakMap<Source, Kept[]>()

function partsOf(source: Source, headers: ClaimedEvent['headers'], body: Uint8Array): readonly StoredSlice[] {
  const kept = keptOf.get(source) ?? []
  const text = JSON.stringify(headers)
  const known = kept.find((one) => one.headers === text && equal(one.body, body))
  if (known !== undefined) return known.parts
  const parts = read(source, { method: 'POST', url: 'http://localhost/', headers, body })
  // Only what parses anew: a handler may change its payload, and must not change that of the next attempt.
  if (parts.length > 1 && source.slices) {
    keptOf.set(source, bounded([{ headers: text, body, parts }, ...kept]))
  }
  return parts
}

function bounded(kept: readonly Kept[]): Kept[] {
  let bytes = 0
  return kept.slice(0, MOST_KEPT).filter(({ body }) => {
    bytes += body.byteLength
    return bytes <= MOST_BYTES
  })
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.byteLength === b.byteLength && Buffer.compare(a, b) === 0)
}

/** A provider that was not made by `defineProvider` may only be able to identify, and not without its headers. */
function read(source: Source, delivery: Delivery): readonly StoredSlice[] {
  if (source.slices) return source.slices(delivery)
  const events = source.identify(delivery)
  if (events.length === 0)
    return [{ id: null, type: '', reference: null, isWhole: true, parse: () => plain(delivery) }]
  return events.map((event) => {
    const { id, type, reference } = event
    return { id, type, reference, isWhole: events.length === 1, parse: () => event.payload }
  })
}

/** JSON where it is JSON, a form as an object without prototype, else text. */
function plain({ headers, body }: Delivery): unknown {
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
