/** A delivery in the spool is one block of bytes: the length of the head (4 bytes), the head as JSON, the body as received. */
import type { NewDelivery } from '../model.js'

export interface SpoolRow {
  readonly source: string
  readonly receivedAt: number
  readonly block: Uint8Array
}

const LENGTH_BYTES = 4

/** The head holds all other fields of the delivery, even those that are added later. */
export function asRow(delivery: NewDelivery, receivedAt: number): SpoolRow {
  const { source, receivedAt: _, body, events, ...more } = delivery
  const head = Buffer.from(
    JSON.stringify({
      ...more,
      events: events.map((event) => ({
        ...event,
        contentHash: asText(event.contentHash),
        guardHash: asText(event.guardHash),
      })),
    }),
  )
  const block = new Uint8Array(LENGTH_BYTES + head.byteLength + body.byteLength)
  new DataView(block.buffer).setUint32(0, head.byteLength)
  block.set(head, LENGTH_BYTES)
  block.set(body, LENGTH_BYTES + head.byteLength)
  return { source, receivedAt: Math.trunc(receivedAt), block }
}

export function asDelivery({ source, block }: SpoolRow, receivedAt: number): NewDelivery {
  const end = LENGTH_BYTES + new DataView(block.buffer, block.byteOffset).getUint32(0)
  const head = JSON.parse(Buffer.from(block.subarray(LENGTH_BYTES, end)).toString())
  return {
    ...head,
    events: head.events.map((event: { contentHash: string | null; guardHash: string | null }) => ({
      ...event,
      contentHash: asBytes(event.contentHash),
      guardHash: asBytes(event.guardHash),
    })),
    body: block.subarray(end),
    source,
    receivedAt,
  }
}

const asText = (hash: Uint8Array | null) => (hash === null ? null : Buffer.from(hash).toString('base64'))
const asBytes = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'))
