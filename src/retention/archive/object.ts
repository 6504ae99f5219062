/**
 * An object of an archive: some deliveries of one source and day, as JSON Lines in gzip. A line has what is needed to read
 * it without hookonce: the bytes as base64, the headers, and every event with its id, type and state.
 */

import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { StoredDelivery } from '../../model.js'
import { readParquet, writeParquet } from './parquet.js'

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
