import { createHash } from 'node:crypto'
import { sha256 } from '../digest.js'
import { limits, type NewDelivery } from '../model.js'
import type { Delivery, IdentifiedEvent, Source } from '../provider.js'

/** Useful for debugging, and without credentials. A provider names others. */
const storedHeaders = ['content-type', 'user-agent', 'x-request-id', 'traceparent', 'tracestate']
const STORED_HEADER_BYTES = 1_024

export function newDelivery(
  name: string,
  source: Source,
  delivery: Delivery,
  events: readonly IdentifiedEvent[],
  laneOf: (source: string, event: IdentifiedEvent) => string | null,
  /** Trace headers that replace those of the sender. */
  carried?: Delivery['headers'],
): NewDelivery {
  const bodyHash = sha256(delivery.body)
  const guardHash = guardHashOf(source, delivery, bodyHash)
  return {
    source: name,
    headers: stored(carried ? { ...delivery.headers, ...carried } : delivery.headers, source.keepHeaders),
    body: delivery.body,
    events: events.map((event, index) => ({
      id: event.id,
      type: event.type,
      reference: event.reference,
      ...(event.references?.length && { references: event.references.slice(0, limits.references) }),
      contentHash: contentHashOf(delivery, event, bodyHash),
      guardHash: guardHash === null || events.length === 1 ? guardHash : guardHashAt(guardHash, index),
      lane: laneOf(name, event),
    })),
    contentGuard: source.contentGuard,
  }
}

function contentHashOf(
  { body }: Delivery,
  { content }: IdentifiedEvent,
  bodyHash: Uint8Array,
): Uint8Array | null {
  return content === null ? null : content === body ? bodyHash : sha256(content)
}

/** The signed bytes are seldom the body alone, and for some senders (Mailgun) not the body at all. */
function guardHashOf(source: Source, delivery: Delivery, bodyHash: Uint8Array): Uint8Array | null {
  const content = source.guarded ? source.guarded(delivery) : source.idIsSigned ? null : [delivery.body]
  if (content === null) return null
  if (content.length === 1 && content[0] === delivery.body) return bodyHash
  const digest = createHash('sha256')
  for (const chunk of content) digest.update(chunk)
  return digest.digest()
}

/** The index is part of the digest, because events of one delivery share the signed bytes. */
function guardHashAt(guardHash: Uint8Array, index: number): Uint8Array {
  return sha256(Buffer.concat([Buffer.from(`\n${index}\n`), guardHash]))
}

function stored(headers: Delivery['headers'], extra: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {}
  for (const name of storedHeaders) store(result, name, headers[name])
  for (const name of extra) store(result, name, headers[name])
  return result
}

function store(result: Record<string, string>, name: string, value: string | undefined): void {
  if (value === undefined || value.length > STORED_HEADER_BYTES) return
  result[name] = UNSTORABLE.test(value) ? value.toWellFormed().replaceAll('\0', '') : value
}

/** PostgreSQL stores neither a zero byte nor half of a surrogate pair. */
const UNSTORABLE = /[\0\ud800-\udfff]/
