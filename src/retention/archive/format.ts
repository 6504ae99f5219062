/**
 * An object of an archive has some deliveries of one source and day, as JSON Lines in gzip. It can be read without hookonce:
 * each line has the body as base64, the headers, and every event with its id, type and state. The manifest of a day lists
 * its objects with their sizes and SHA-256. It is written after the objects; an object that no manifest lists is ignored.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { HookonceError, isHookonceError } from '../../errors.js'
import { limits } from '../../model.js'
import type { StoredDelivery } from '../../store.js'
import { type ArchiveTarget, MOST_BYTES } from './target.js'

export interface ArchivedObject {
  readonly number: number
  readonly path: string
  readonly deliveries: number
  readonly events: number
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

export function objectPath(source: string, day: string, number: number): string {
  return `${encodeURIComponent(source)}/${day}/${number}.jsonl.gz`
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
    const { version, source, day, objects } = manifest
    if (version === 1 && manifestPath(source, day) === path && objects.every(isIn(manifest))) return manifest
  } catch {
    // Reported below, without quoting the text.
  }
  throw damaged(target, path, 'it is not a manifest')
}

/** A manifest cannot point to another file. */
const isIn =
  ({ source, day }: Manifest) =>
  ({ number, path }: ArchivedObject): boolean =>
    Number.isSafeInteger(number) && path === objectPath(source, day, number)

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

/** Throws ARCHIVE_DAMAGED when the object is not as the manifest says. */
export async function readVerified(target: ArchiveTarget, object: ArchivedObject): Promise<StoredDelivery[]> {
  const { path } = object
  const bytes = await target.read(path)
  if (bytes === null) throw damaged(target, path, 'it is missing')
  if (bytes.byteLength !== object.bytes)
    throw damaged(target, path, `it has ${bytes.byteLength} bytes instead of ${object.bytes}`)
  if (sha256(bytes) !== object.sha256) throw damaged(target, path, 'its SHA-256 differs')
  const deliveries = await decodeObject(object, bytes).catch((error: unknown) => {
    throw isHookonceError(error) ? error : damaged(target, path, 'it cannot be read')
  })
  const events = deliveries.reduce((all, delivery) => all + delivery.events.length, 0)
  if (deliveries.length !== object.deliveries || events !== object.events)
    throw damaged(target, path, 'its number of deliveries or events differs from the manifest')
  return deliveries
}

/** An event of a line: its id, its type, its reference and its hash. */
const EVENT_BYTES = 2 * 1024
const HEADER_BYTES = 256 * 1024

export async function encodeObject(deliveries: readonly StoredDelivery[]): Promise<Uint8Array> {
  return promisify(gzip)(deliveries.map(toLine).join(''))
}

type Allowed = Pick<ArchivedObject, 'deliveries' | 'events'>

/**
 * Throws when the bytes do not have this format, or more content than the manifest says. It stops there: a few compressed
 * bytes may stand for more than the memory can hold.
 */
export async function decodeObject(allowed: Allowed, bytes: Uint8Array): Promise<StoredDelivery[]> {
  const deliveries: StoredDelivery[] = []
  const mostLine = (limits.bodyBytes * 4) / 3 + HEADER_BYTES + allowed.events * EVENT_BYTES
  for await (const line of linesOf(bytes, Math.min(mostLine, MOST_BYTES / 2))) {
    if (deliveries.length === allowed.deliveries) throw new Error('more deliveries than the manifest says')
    deliveries.push(fromLine(line))
  }
  return deliveries
}

async function* linesOf(bytes: Uint8Array, mostLine: number): AsyncGenerator<string> {
  const gunzip = createGunzip()
  gunzip.end(bytes)
  let total = 0
  let line: Buffer[] = []
  let length = 0
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    total += chunk.byteLength
    if (total > MOST_BYTES) throw new Error('more bytes than an object may have')
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      if (length + end - from > 0) yield Buffer.concat([...line, chunk.subarray(from, end)]).toString('utf8')
      line = []
      length = 0
      from = end + 1
    }
    length += chunk.byteLength - from
    if (length > mostLine) throw new Error('a longer line than a delivery may have')
    if (from < chunk.byteLength) line.push(chunk.subarray(from))
  }
  if (length > 0) yield Buffer.concat(line).toString('utf8')
}

function toLine({ body, ...rest }: StoredDelivery): string {
  const base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64')
  return `${JSON.stringify({ ...rest, body: base64 })}\n`
}

function fromLine(line: string): StoredDelivery {
  const { body, ...rest } = JSON.parse(line) as Omit<StoredDelivery, 'body'> & { body: string }
  return { ...rest, body: Buffer.from(body, 'base64') }
}
