/** The batch that `record` gets: folded to one event for each key, and as the parameters of its statement. */
import { randomBytes } from 'node:crypto'
import { contestedId, type NewDelivery, type NewEvent, tombstoneOf } from '../../model.js'
import { joined, numbers, texts } from './statement.js'

/** The place of an event in the batch: the index of its delivery, and its index in that delivery. */
export interface BatchPlace {
  readonly delivery: number
  readonly index: number
}

export interface BatchEvent extends BatchPlace {
  readonly source: string
  readonly event: NewEvent
}

export interface FoldedBatch {
  /** The first event of each key, in the order of the batch. */
  readonly firsts: readonly BatchEvent[]
  /** The later events of these keys; `first` is an index into `firsts`. */
  readonly repeats: readonly (BatchEvent & { readonly first: number })[]
}

/**
 * Splits a batch into the first event of each key and its repeats. One insert statement cannot take the same key twice,
 * so the repeats are left out of it and get their verdict from the result of the first.
 * Deliveries for which `skip` returns true (refused ones) are left out.
 */
export function foldBatch(
  deliveries: readonly NewDelivery[],
  skip: (delivery: number) => boolean = () => false,
): FoldedBatch {
  const firsts: BatchEvent[] = []
  const repeats: (BatchEvent & { first: number })[] = []
  // Two levels: source and id joined into one string could be equal for two different keys.
  const seen = new Map<string, Map<string, number>>()
  deliveries.forEach(({ source, events }, delivery) => {
    if (skip(delivery)) return
    const ids = seen.get(source) ?? new Map<string, number>()
    seen.set(source, ids)
    events.forEach((event, index) => {
      const first = ids.get(event.eventId)
      if (first === undefined) {
        ids.set(event.eventId, firsts.length)
        firsts.push({ delivery, index, source, event })
      } else {
        repeats.push({ delivery, index, source, event, first })
      }
    })
  })
  return { firsts, repeats }
}

/**
 * The batch in portions that are recorded one after the other. A repeat with other signed content may be stored under an id
 * of its own, after the firsts. A first that comes later in the batch and has the same signed content must then wait for
 * it: the earlier of the two is the original, and the later one is flagged as its repetition.
 */
export function inGuardOrder(batch: FoldedBatch): FoldedBatch[] {
  const portions: FoldedBatch[] = []
  // The earliest first of a batch never waits, so each portion is smaller than the one before.
  for (let rest = batch; rest.firsts.length > 0; ) {
    const waits = waitingFirsts(rest)
    if (waits.size === 0) return [...portions, rest]
    portions.push(portion(rest, (first) => !waits.has(first)))
    rest = portion(rest, (first) => waits.has(first))
  }
  return portions
}

/** Indexes into `firsts`. */
function waitingFirsts({ firsts, repeats }: FoldedBatch): Set<number> {
  const earliest = new Map<string, BatchPlace>()
  for (const repeat of repeats) {
    const { event } = repeat
    const guard = guardOf(repeat)
    if (guard === null || earliest.has(guard)) continue
    if (contestedId(event) !== contestedId(firsts[repeat.first]!.event)) earliest.set(guard, repeat)
  }
  const waits = new Set<number>()
  if (earliest.size === 0) return waits
  firsts.forEach((first, i) => {
    const repeat = earliest.get(guardOf(first) ?? '')
    if (repeat !== undefined && isBefore(repeat, first)) waits.add(i)
  })
  return waits
}

/** The firsts for which `has` returns true, with their repeats. */
function portion({ firsts, repeats }: FoldedBatch, has: (first: number) => boolean): FoldedBatch {
  const kept = [...firsts.keys()].filter(has)
  const place = new Map(kept.map((first, i) => [first, i]))
  return {
    firsts: kept.map((first) => firsts[first]!),
    repeats: repeats
      .filter(({ first }) => has(first))
      .map((one) => ({ ...one, first: place.get(one.first)! })),
  }
}

function guardOf({ source, event: { guardHash } }: BatchEvent): string | null {
  return guardHash === null ? null : `${Buffer.from(guardHash).toString('hex')} ${source}`
}

function isBefore(a: BatchPlace, b: BatchPlace): boolean {
  return a.delivery === b.delivery ? a.index < b.index : a.delivery < b.delivery
}

/** Without a hash the bytes cannot be compared; they then count as equal. */
export function sameContent(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null || Buffer.compare(a, b) === 0
}

/** An event of the batch with the delivery it came from. */
export type Item = BatchEvent & { readonly from: NewDelivery }

/** A number for the rows of one batch, so that a statement that is sent again recognises them. */
export function newBatch(): string {
  return randomBytes(8).readBigInt64LE().toString()
}

/** Whether `insertPlain` can record the event: it is alone in its delivery, and has no guard and no lane. */
export function isPlain({ event, from }: Item): boolean {
  return from.events.length === 1 && event.guardHash === null && (event.lane ?? null) === null
}

/** The values of `insertPlain` in `record-sql.ts`, without the slot. */
export function plainParameters(items: readonly Item[], batch: string): unknown[] {
  return [
    texts(items.map((item) => item.source)),
    texts(items.map((item) => item.event.eventId)),
    texts(items.map((item) => item.event.eventType)),
    texts(items.map((item) => item.event.reference)),
    texts(items.map((item) => JSON.stringify(item.from.headers))),
    numbers(items.map((item) => item.from.receivedAt ?? null)),
    numbers(startsOf(items.map((item) => item.from))),
    numbers(items.map((item) => item.from.body.byteLength)),
    joined(items.map((item) => item.from.body)),
    joined(items.map((item) => item.event.contentHash ?? NO_HASH)),
    numbers(items.map((item) => item.event.contentHash !== null)),
    joined(items.map((item) => tombstoneOf(item.event.eventId, item.event.contentHash))),
    batch,
  ]
}

/** The values of `insert` in `record-sql.ts`, without the slot. */
export function parameters(
  items: readonly Item[],
  payloadSeq: Map<NewDelivery, number>,
  batch: string,
): unknown[] {
  const deliveries = [...new Set(items.map((item) => item.from))]
  const place = new Map(deliveries.map((delivery, i) => [delivery, i + 1]))
  const events = items.map((item) => item.event)
  return [
    texts(items.map((item) => item.source)),
    texts(events.map((event) => event.eventId)),
    texts(events.map((event) => event.eventType)),
    texts(events.map((event) => event.reference)),
    numbers(items.map((item) => item.index)),
    numbers(items.map((item) => place.get(item.from)!)),
    numbers(items.map((item) => payloadSeq.get(item.from) ?? null)),
    joined(events.map((event) => event.contentHash ?? NO_HASH)),
    numbers(events.map((event) => event.contentHash !== null)),
    joined(events.map((event) => event.guardHash ?? NO_HASH)),
    numbers(events.map((event) => event.guardHash !== null)),
    numbers(deliveries.map((delivery) => delivery.receivedAt ?? null)),
    texts(deliveries.map((delivery) => JSON.stringify(delivery.headers))),
    texts(deliveries.map((delivery) => delivery.onReplayedContent)),
    numbers(startsOf(deliveries)),
    numbers(deliveries.map((delivery) => delivery.body.byteLength)),
    joined(deliveries.map((delivery) => delivery.body)),
    batch,
    texts(events.map((event) => event.lane ?? null)),
    texts(events.map((event) => (event.guardHash === null ? null : contestedId(event)))),
    joined(events.map((event) => tombstoneOf(event.eventId, event.contentHash))),
  ]
}

/** The offset of each body in all of them joined, from 1. */
function startsOf(deliveries: readonly NewDelivery[]): number[] {
  let at = 1
  return deliveries.map(({ body }) => {
    const start = at
    at += body.byteLength
    return start
  })
}

const NO_HASH = new Uint8Array(32)
