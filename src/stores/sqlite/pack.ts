/**
 * The deliveries of `record` as a message between threads. A message is cloned value by value, and a Buffer from Node's
 * pool is cloned with its whole pool. So the bytes are sent as one transferred block, texts and numbers as two flat lists.
 * 64 deliveries of 500 bytes take 0.06 ms, against 0.21 ms as plain objects. Their verdicts as plain objects take 0.02 ms.
 */
import {
  type ContentGuard,
  contentGuards,
  type NewDelivery,
  type NewEvent,
  type Origin,
  origins,
  type RecordClaim,
} from '../../model.js'
import { otherReferencesOf, ownLabelOf } from '../shared/references.js'

export interface PackedDeliveries {
  /** Per delivery: the body. Per event: contentHash and guardHash, if any. */
  readonly bytes: Uint8Array
  /**
   * Per delivery: source, headers as JSON. Per event: id, type, reference ('' = null, since a reference is not empty), and
   * its lane, the token of its lease, the label of its reference, and its other references, if it has them.
   */
  readonly texts: readonly string[]
  /**
   * Per delivery: body length, receivedAt (-1 = now), index of the content guard, index of the origin, number of events. Per
   * event: flags.
   */
  readonly numbers: readonly number[]
  /** Who claims the events that have a token. */
  readonly by: Claimant | null
}

type Claimant = Pick<RecordClaim, 'worker' | 'leaseMs'>

export interface UnpackedEvent extends NewEvent {
  readonly claim: (Claimant & { readonly token: string }) | null
  readonly label: string | null
  /** JSON. */
  readonly others: string | null
}

export interface UnpackedDelivery extends Omit<NewDelivery, 'headers' | 'receivedAt' | 'origin' | 'events'> {
  readonly events: readonly UnpackedEvent[]
  /** JSON. */
  readonly headers: string
  readonly receivedAt: number | null
  readonly origin: Origin
}

const guards = Object.keys(contentGuards) as ContentGuard[]
const HASH_BYTES = 32
const HAS_CONTENT_HASH = 1
const HAS_GUARD_HASH = 2
const HAS_LANE = 4
const HAS_TOKEN = 8
const HAS_LABEL = 16
const HAS_OTHERS = 32

export function pack(deliveries: readonly NewDelivery[], claim?: RecordClaim): PackedDeliveries {
  let size = 0
  for (const { body, events } of deliveries) {
    size += body.byteLength
    for (const { contentHash, guardHash } of events) {
      size += (contentHash === null ? 0 : HASH_BYTES) + (guardHash === null ? 0 : HASH_BYTES)
    }
  }
  const bytes = new Uint8Array(size)
  const texts: string[] = []
  const numbers: number[] = []
  let at = 0
  const put = (value: Uint8Array | null) => {
    if (value === null) return
    bytes.set(value, at)
    at += value.byteLength
  }
  for (const { source, headers, body, events, contentGuard, receivedAt, origin = 'delivery' } of deliveries) {
    texts.push(source, JSON.stringify(headers))
    const arrived = receivedAt === undefined ? -1 : Math.trunc(receivedAt)
    const guard = guards.indexOf(contentGuard)
    numbers.push(body.byteLength, arrived, guard, origins.indexOf(origin), events.length)
    put(body)
    for (const event of events) {
      const { id, type, reference, contentHash, guardHash, lane = null } = event
      const token = claim?.tokens.get(event)
      texts.push(id, type, reference ?? '')
      if (lane !== null) texts.push(lane)
      if (token !== undefined) texts.push(token)
      const label = ownLabelOf(event)
      const others = otherReferencesOf(event)
      if (label !== null) texts.push(label)
      if (others !== null) texts.push(others)
      numbers.push(
        (contentHash === null ? 0 : HAS_CONTENT_HASH) |
          (guardHash === null ? 0 : HAS_GUARD_HASH) |
          (lane === null ? 0 : HAS_LANE) |
          (token === undefined ? 0 : HAS_TOKEN) |
          (label === null ? 0 : HAS_LABEL) |
          (others === null ? 0 : HAS_OTHERS),
      )
      put(contentHash)
      put(guardHash)
    }
  }
  return { bytes, texts, numbers, by: claim ? { worker: claim.worker, leaseMs: claim.leaseMs } : null }
}

export function unpack({ bytes, texts, numbers, by }: PackedDeliveries): UnpackedDelivery[] {
  let text = 0
  let number = 0
  let at = 0
  const cut = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const deliveries: UnpackedDelivery[] = []
  while (number < numbers.length) {
    const source = texts[text++]!
    const headers = texts[text++]!
    const body = cut(numbers[number++]!)
    const arrived = numbers[number++]!
    const contentGuard = guards[numbers[number++]!]!
    const origin = origins[numbers[number++]!]!
    const events = Array.from({ length: numbers[number++]! }, () => {
      const flags = numbers[number++]!
      return {
        id: texts[text++]!,
        type: texts[text++]!,
        reference: texts[text++]! || null,
        lane: flags & HAS_LANE ? texts[text++]! : null,
        claim: flags & HAS_TOKEN ? { ...by!, token: texts[text++]! } : null,
        label: flags & HAS_LABEL ? texts[text++]! : null,
        others: flags & HAS_OTHERS ? texts[text++]! : null,
        contentHash: flags & HAS_CONTENT_HASH ? cut(HASH_BYTES) : null,
        guardHash: flags & HAS_GUARD_HASH ? cut(HASH_BYTES) : null,
      }
    })
    deliveries.push({
      source,
      headers,
      body,
      events,
      contentGuard,
      origin,
      receivedAt: arrived < 0 ? null : arrived,
    })
  }
  return deliveries
}
