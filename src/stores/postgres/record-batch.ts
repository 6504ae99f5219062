import { randomBytes } from 'node:crypto'
import { contentGuards, type NewDelivery, type NewEvent, type RecordClaim } from '../../model.js'
import { otherReferencesOf, ownLabelOf } from '../shared/references.js'
import { joined, numbers, texts } from './connection/statement.js'

export interface BatchEvent {
  readonly event: NewEvent
  readonly from: NewDelivery
  /** Indexes: of the delivery in the batch, and of the event in its delivery. */
  readonly delivery: number
  readonly index: number
  /** Null: it is not claimed. */
  readonly token: string | null
}

export function eventsOf(deliveries: readonly NewDelivery[], claim?: RecordClaim): BatchEvent[] {
  return deliveries.flatMap((from, delivery) =>
    from.events.map((event, index) => {
      return { event, from, delivery, index, token: claim?.tokens.get(event) ?? null }
    }),
  )
}

export interface Folded {
  /** The first event of each key. */
  readonly firsts: readonly BatchEvent[]
  /** `first` is an index into `firsts`. */
  readonly repeats: readonly { readonly event: BatchEvent; readonly first: number }[]
}

export function fold(events: readonly BatchEvent[]): Folded {
  const firsts: BatchEvent[] = []
  const repeats: { event: BatchEvent; first: number }[] = []
  // Two levels: two keys, joined into one string each, could be equal.
  const seen = new Map<string, Map<string, number>>()
  for (const event of events) {
    const { source } = event.from
    let ids = seen.get(source)
    if (ids === undefined) {
      ids = new Map()
      seen.set(source, ids)
    }
    const first = ids.get(event.event.id)
    if (first === undefined) {
      ids.set(event.event.id, firsts.length)
      firsts.push(event)
    } else repeats.push({ event, first })
  }
  return { firsts, repeats }
}

/** Bytes without a hash cannot be compared and count as equal. */
export function sameContent(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null || Buffer.compare(a, b) === 0
}

export interface Batch {
  /** A statement that is sent again recognises its rows by this number. */
  readonly number: string
  readonly by: Pick<RecordClaim, 'worker' | 'leaseMs'>
}

export function newBatch(by: Batch['by']): Batch {
  return { number: randomBytes(8).readBigInt64LE().toString(), by }
}

const claimOf = (items: readonly BatchEvent[], { by }: Batch): unknown[] => [
  texts(items.map(({ token }) => token)),
  by.worker,
  by.leaseMs,
]

/** `insertPlain` can record the event: it was delivered alone, and has no guard and no lane. */
export function isPlain({ event, from }: BatchEvent): boolean {
  if (originOf(from) !== null) return false
  return from.events.length === 1 && event.guardHash === null && (event.lane ?? null) === null
}

/** Labels of the references, and the other references. */
function referencesIn(items: readonly BatchEvent[]): unknown[] {
  return [
    texts(items.map(({ event }) => ownLabelOf(event))),
    texts(items.map(({ event }) => otherReferencesOf(event))),
  ]
}

/** True when an event has references that are rows. */
export function refers(items: readonly BatchEvent[]): boolean {
  return items.some(({ event }) => otherReferencesOf(event) !== null)
}

export function plainParameters(items: readonly BatchEvent[], batch: Batch): unknown[] {
  return [
    texts(items.map((item) => item.from.source)),
    texts(items.map((item) => item.event.id)),
    texts(items.map((item) => item.event.type)),
    texts(items.map((item) => item.event.reference)),
    texts(items.map((item) => JSON.stringify(item.from.headers))),
    numbers(items.map((item) => item.from.receivedAt ?? null)),
    numbers(startsOf(items.map((item) => item.from))),
    numbers(items.map((item) => item.from.body.byteLength)),
    joined(items.map((item) => item.from.body)),
    joined(items.map((item) => item.event.contentHash ?? NO_HASH)),
    numbers(items.map((item) => item.event.contentHash !== null)),
    batch.number,
    ...claimOf(items, batch),
    ...referencesIn(items),
  ]
}

export function parameters(
  items: readonly BatchEvent[],
  payloadSeq: Map<NewDelivery, number>,
  batch: Batch,
): unknown[] {
  const deliveries = [...new Set(items.map((item) => item.from))]
  const place = new Map(deliveries.map((delivery, i) => [delivery, i + 1]))
  const events = items.map((item) => item.event)
  return [
    texts(items.map((item) => item.from.source)),
    texts(events.map((event) => event.id)),
    texts(events.map((event) => event.type)),
    texts(events.map((event) => event.reference)),
    numbers(items.map((item) => item.index)),
    numbers(items.map((item) => place.get(item.from)!)),
    numbers(items.map((item) => payloadSeq.get(item.from) ?? null)),
    joined(events.map((event) => event.contentHash ?? NO_HASH)),
    numbers(events.map((event) => event.contentHash !== null)),
    joined(events.map((event) => event.guardHash ?? NO_HASH)),
    numbers(events.map((event) => event.guardHash !== null)),
    texts(events.map((event) => event.lane ?? null)),
    numbers(deliveries.map((delivery) => delivery.receivedAt ?? null)),
    texts(deliveries.map((delivery) => JSON.stringify(delivery.headers))),
    numbers(deliveries.map((delivery) => contentGuards[delivery.contentGuard].stores)),
    numbers(deliveries.map((delivery) => contentGuards[delivery.contentGuard].handles)),
    numbers(startsOf(deliveries)),
    numbers(deliveries.map((delivery) => delivery.body.byteLength)),
    joined(deliveries.map((delivery) => delivery.body)),
    batch.number,
    ...claimOf(items, batch),
    ...referencesIn(items),
    texts(deliveries.map(originOf)),
  ]
}

/** As it is stored. */
function originOf({ origin }: NewDelivery): string | null {
  return origin === undefined || origin === 'delivery' ? null : origin
}

/** Offsets of the bodies in the joined value, from 1. */
function startsOf(deliveries: readonly NewDelivery[]): number[] {
  let at = 1
  return deliveries.map(({ body }) => {
    const start = at
    at += body.byteLength
    return start
  })
}

const NO_HASH = new Uint8Array(32)
