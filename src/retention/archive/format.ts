/**
 * The format of an archive. An object has some deliveries of one source and day, as JSON Lines in gzip or as Parquet.
 * It can be read without hookonce: each line has the body as base64, the headers, and every event with its id, type and
 * state. The manifest of a day lists its objects with their sizes and SHA-256. It is written after the objects; an
 * object that no manifest lists is ignored.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { HookonceError, isHookonceError } from '../../errors.js'
import { importOptional } from '../../optional-module.js'
import type { StoredDelivery } from '../../store.js'
import type { ArchiveTarget } from './target.js'

export interface ArchivedObject {
  readonly number: number
  readonly path: string
  readonly format: ArchiveFormat
  readonly deliveries: number
  readonly events: number
  /** The size of the stored object. */
  readonly bytes: number
  readonly sha256: string
  readonly firstSeq: number
  readonly lastSeq: number
}

export interface Manifest {
  readonly version: 1
  readonly source: string
  /** UTC, `yyyy-mm-dd`. */
  readonly day: string
  readonly deliveries: number
  readonly events: number
  readonly objects: readonly ArchivedObject[]
}

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

export function manifestPath(source: string, day: string): string {
  return `${encodeURIComponent(source)}/${day}/manifest.json`
}

export function objectPath(source: string, day: string, number: number, format: ArchiveFormat): string {
  return `${encodeURIComponent(source)}/${day}/${number}.${suffixes[format]}`
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export function damaged(target: ArchiveTarget, path: string, problem: string): HookonceError {
  return new HookonceError('ARCHIVE_DAMAGED', { archive: target.name, path, problem })
}

export async function readManifest(target: ArchiveTarget, path: string): Promise<Manifest | null> {
  const bytes = await target.read(path)
  if (bytes === null) return null
  try {
    const manifest = JSON.parse(Buffer.from(bytes).toString('utf8')) as Manifest
    if (manifest.version === 1 && Array.isArray(manifest.objects)) return manifest
  } catch {
    // Reported below, without quoting the text.
  }
  throw damaged(target, path, 'it is not a manifest')
}

/** Adds an object to the manifest, writes it, and reads it back. */
export async function writeManifest(
  target: ArchiveTarget,
  before: Manifest | null,
  about: { readonly source: string; readonly day: string },
  object: ArchivedObject,
): Promise<Manifest> {
  const objects = [...(before?.objects ?? []), object]
  const sum = (of: 'deliveries' | 'events') => objects.reduce((all, object) => all + object[of], 0)
  const { source, day } = about
  const manifest: Manifest = {
    version: 1,
    source,
    day,
    deliveries: sum('deliveries'),
    events: sum('events'),
    objects,
  }
  const path = manifestPath(source, day)
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  await target.replace(path, bytes)
  const back = await target.read(path)
  if (back === null || !bytes.equals(back))
    throw damaged(target, path, 'it was read back with other content than was written')
  return manifest
}

/** Reads an object and compares it with the manifest. Throws ARCHIVE_DAMAGED when they differ. */
export async function readVerified(target: ArchiveTarget, object: ArchivedObject): Promise<StoredDelivery[]> {
  const { path } = object
  const bytes = await target.read(path)
  if (bytes === null) throw damaged(target, path, 'it is missing')
  if (bytes.byteLength !== object.bytes)
    throw damaged(target, path, `it has ${bytes.byteLength} bytes instead of ${object.bytes}`)
  if (sha256(bytes) !== object.sha256) throw damaged(target, path, 'its SHA-256 differs')
  const deliveries = await decodeObject(object.format, bytes).catch((error: unknown) => {
    throw isHookonceError(error) ? error : damaged(target, path, 'it cannot be read')
  })
  const events = deliveries.reduce((all, delivery) => all + delivery.events.length, 0)
  if (deliveries.length !== object.deliveries || events !== object.events)
    throw damaged(target, path, 'its number of deliveries or events differs from the manifest')
  return deliveries
}

export type ArchiveFormat = 'jsonl' | 'parquet'

/** Our objects are much smaller, so a larger one was not written by hookonce. */
const MOST_BYTES = 1024 * 1024 * 1024

export const suffixes: Record<ArchiveFormat, string> = { jsonl: 'jsonl.gz', parquet: 'parquet' }

export async function encodeObject(
  format: ArchiveFormat,
  deliveries: readonly StoredDelivery[],
): Promise<Uint8Array> {
  if (format === 'parquet') return writeParquet(deliveries)
  return promisify(gzip)(deliveries.map(toLine).join(''))
}

/** Throws when the bytes do not have this format. */
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
  const { parquetWriteBuffer } = await importOptional<typeof import('hyparquet-writer')>('hyparquet-writer')
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
  const { parquetReadObjects } = await importOptional<typeof import('hyparquet')>('hyparquet')
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
