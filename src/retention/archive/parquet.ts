/** The same rows as Parquet, for those who query their archive. The packages are loaded only when they are asked for. */
import { HookonceError } from '../../errors.js'
import type { StoredDelivery } from '../../model.js'

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
