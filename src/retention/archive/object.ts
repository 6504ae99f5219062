/**
 * An object of an archive: some deliveries of one source and day, as JSON Lines in gzip. A line has what is needed to read
 * it without hookonce: the bytes as base64, the headers, and every event with its id, type and state.
 */

import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { HookonceError } from '../../errors.js'
import type { StoredDelivery } from '../../store.js'

export type ArchiveFormat = 'jsonl' | 'parquet'

/** Objects are cut well below it; what is larger was not written by us. */
const MOST_BYTES = 1024 * 1024 * 1024

export const suffixes: Record<ArchiveFormat, string> = { jsonl: 'jsonl.gz', parquet: 'parquet' }

export async function encodeObject(
  format: ArchiveFormat,
  deliveries: readonly StoredDelivery[],
): Promise<Uint8Array> {
  if (format === 'parquet') return writeParquet(deliveries)
  return promisify(gzip)(deliveries.map(toLine).join(''))
}

/** Throws when it cannot be read as what it should be. */
export async function decodeObject(format: ArchiveFormat, bytes: Uint8Array): Promise<StoredDelivery[]> {
  if (format === 'parquet') return readParquet(bytes)
  const text = (await promisify(gunzip)(bytes, { maxOutputLength: MOST_BYTES })).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(fromLine)
}

function toLine({ body, ...rest }: StoredDelivery): string {
  const base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64')
  return `${JSON.stringify({ ...rest, body: base64 })}\n`
}

function fromLine(line: string): StoredDelivery {
  const { body, ...rest } = JSON.parse(line) as Omit<StoredDelivery, 'body'> & { body: string }
  return { ...rest, body: Buffer.from(body, 'base64') }
}

export async function writeParquet(deliveries: readonly StoredDelivery[]): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer').catch(missing('hyparquet-writer'))
  const column = <T>(name: string, type: string, of: (delivery: StoredDelivery) => T) => ({
    name,
    type: type as 'STRING',
    data: deliveries.map(of),
  })
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        column('seq', 'INT64', (delivery) => BigInt(delivery.seq)),
        column('source', 'STRING', (delivery) => delivery.source),
        column('received_at', 'TIMESTAMP', (delivery) => new Date(delivery.receivedAt)),
        column('headers', 'STRING', (delivery) => JSON.stringify(delivery.headers)),
        column('events', 'STRING', (delivery) => JSON.stringify(delivery.events)),
        column('body', 'BYTE_ARRAY', (delivery) => new Uint8Array(delivery.body)),
      ],
    }),
  )
}

export async function readParquet(bytes: Uint8Array): Promise<StoredDelivery[]> {
  const { parquetReadObjects } = await import('hyparquet').catch(missing('hyparquet'))
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const rows = (await parquetReadObjects({ file, utf8: false })) as unknown as ParquetRow[]
  return rows.map((row) => ({
    seq: Number(row.seq),
    source: row.source,
    receivedAt: row.received_at.getTime(),
    headers: JSON.parse(row.headers),
    events: JSON.parse(row.events),
    body: row.body,
  }))
}

interface ParquetRow {
  seq: bigint
  source: string
  received_at: Date
  headers: string
  events: string
  body: Uint8Array
}

function missing(driver: string): (error: { code?: string }) => never {
  return (error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new HookonceError('DRIVER_MISSING', { driver })
  }
}
