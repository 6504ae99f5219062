/**
 * The form of a delivery in the spool: one block of bytes: the length of the head (4 bytes), the head as JSON, and the
 * body as received.
 */
import type { NewDelivery } from '../model.js'

/** One row of the spool file. Only the source and the time are outside of the block. */
export interface SpoolRow {
  readonly source: string
  /** By the clock of this node. */
  readonly receivedAt: number
  readonly block: Uint8Array
}

const LENGTH_BYTES = 4

export function asRow(delivery: NewDelivery, receivedAt: number): SpoolRow {
  return { source: delivery.source, receivedAt: Math.trunc(receivedAt), block: encode(delivery) }
}

export function asDelivery(row: SpoolRow, receivedAt: number): NewDelivery {
  return { ...decode(row.block), source: row.source, receivedAt }
}

/** The head holds all fields of the delivery except the body, also fields that are added later. */
function encode({ source: _, receivedAt: __, body, events, ...more }: NewDelivery): Uint8Array {
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
  return block
}

function decode(block: Uint8Array): Omit<NewDelivery, 'source' | 'receivedAt'> {
  const length = new DataView(block.buffer, block.byteOffset).getUint32(0)
  const end = LENGTH_BYTES + length
  const head = JSON.parse(Buffer.from(block.subarray(LENGTH_BYTES, end)).toString())
  return {
    ...head,
    events: head.events.map((event: { contentHash: string | null; guardHash: string | null }) => ({
      ...event,
      contentHash: asBytes(event.contentHash),
      guardHash: asBytes(event.guardHash),
    })),
    body: block.subarray(end),
  }
}

const asText = (hash: Uint8Array | null) => (hash === null ? null : Buffer.from(hash).toString('base64'))
const asBytes = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'))
