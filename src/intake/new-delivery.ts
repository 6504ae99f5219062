/** identify, the third step: which events are in this delivery, and what of it is kept. */
import { createHash } from 'node:crypto'
import { sha256 } from '../digest.js'
import type { NewDelivery } from '../model.js'
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
  const guardHash = guardHashOf(source, delivery, bodyHash)
  return {
    source: name,
    headers: keep(delivery.headers, source.keepHeaders),
    body: delivery.body,
    events: events.map((event, part) => ({
      ...asNewEvent(delivery, event, bodyHash),
      guardHash: guardHash === null || events.length === 1 ? guardHash : inPart(guardHash, part),
      lane: laneOf(name, event),
    })),
    onReplayedContent: source.contentGuard === 'accept' ? 'flag' : source.contentGuard,
  }
}

function asNewEvent(delivery: Delivery, event: IdentifiedEvent, bodyHash: Uint8Array) {
  const { content } = event
  return {
    eventId: event.id,
    eventType: event.type,
    reference: event.reference,
    contentHash: content === null ? null : content === delivery.body ? bodyHash : sha256(content),
  }
}

/** The digest of what was signed, which is seldom the body alone and for some senders (Mailgun) none of it. */
function guardHashOf(source: Source, delivery: Delivery, bodyHash: Uint8Array): Uint8Array | null {
  const content = source.guarded ? source.guarded(delivery) : source.idIsSigned ? null : [delivery.body]
  if (content === null) return null
  if (content.length === 1 && content[0] === delivery.body) return bodyHash
  const digest = createHash('sha256')
  for (const chunk of content) digest.update(chunk)
  return digest.digest()
}

/** Events of one delivery share what was signed and are told apart by their place in it. */
function inPart(guardHash: Uint8Array, part: number): Uint8Array {
  return sha256(Buffer.concat([Buffer.from(`\n${part}\n`), guardHash]))
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
