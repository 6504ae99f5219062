/** identify, the third step: which events are in this delivery, and what of it is kept. */
import { sha256 } from '../digest.js'
import type { NewDelivery, NewEvent } from '../model.js'
import type { Delivery, IdentifiedEvent, Source } from '../provider.js'

/** Headers that help people later and cannot hold a credential. A provider adds its own by name. */
const keptHeaders = ['content-type', 'user-agent', 'x-request-id', 'traceparent', 'tracestate']
const KEPT_HEADER_BYTES = 1_024

export function asNewDelivery(
  name: string,
  source: Source,
  delivery: Delivery,
  events: readonly IdentifiedEvent[],
  laneOf: (source: string, event: IdentifiedEvent) => string | null,
): NewDelivery {
  const bodyHash = sha256(delivery.body)
  return {
    source: name,
    headers: keep(delivery.headers, source.keepHeaders),
    body: delivery.body,
    events: events.map((event, part) => ({
      ...asNewEvent(source, delivery, event, bodyHash, events.length > 1 ? part : null),
      lane: laneOf(name, event),
    })),
    onReplayedContent: source.contentGuard === 'accept' ? 'flag' : source.contentGuard,
  }
}

/** `part` is null for a delivery with one event. */
function asNewEvent(
  source: Source,
  delivery: Delivery,
  event: IdentifiedEvent,
  bodyHash: Uint8Array,
  part: number | null,
): NewEvent {
  const { content } = event
  return {
    eventId: event.id,
    eventType: event.type,
    reference: event.reference,
    contentHash: content === null ? null : content === delivery.body ? bodyHash : sha256(content),
    guardHash:
      source.idIsSigned || (source.unverified && source.contentGuard === 'accept')
        ? null
        : signedHash(source, delivery, bodyHash, part),
  }
}

/**
 * The signed bytes are the body, and the timestamp where one is signed: a new timestamp is a new signature. Events of
 * one delivery share its bytes and are told apart by their place in it.
 */
function signedHash(
  source: Source,
  delivery: Delivery,
  bodyHash: Uint8Array,
  part: number | null,
): Uint8Array {
  const at = source.scheme.timestamp?.in
  const stamp = at?.startsWith('header:') ? delivery.headers[at.slice('header:'.length)] : undefined
  if (stamp === undefined && part === null) return bodyHash
  return sha256(Buffer.concat([Buffer.from(`${stamp ?? ''}\n${part ?? ''}\n`), bodyHash]))
}

function keep(headers: Delivery['headers'], extra: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of [...keptHeaders, ...extra]) {
    const value = headers[name]
    if (value !== undefined && value.length <= KEPT_HEADER_BYTES)
      kept[name] = value.toWellFormed().replaceAll('\0', '')
  }
  return kept
}
