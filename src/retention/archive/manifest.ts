/**
 * The manifest of a day: which objects it has, how much is in them, and their SHA-256. Written after its objects; what it
 * does not name does not count.
 */
import { createHash } from 'node:crypto'
import { HookonceError, isHookonceError } from '../../errors.js'
import type { StoredDelivery } from '../../store.js'
import { type ArchiveFormat, decodeObject, suffixes } from './object.js'
import type { ArchiveTarget } from './target.js'

export interface ArchivedObject {
  readonly number: number
  readonly path: string
  readonly format: ArchiveFormat
  readonly deliveries: number
  readonly events: number
  /** Of the object as it is stored. */
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
    // Said below, without quoting it.
  }
  throw damaged(target, path, 'it is not a manifest')
}

/** Adds an object and reads the whole back. */
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
    throw damaged(target, path, 'it was read back otherwise than written')
  return manifest
}

/** Reads an object back and holds it against the manifest; ARCHIVE_DAMAGED where they differ. */
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
    throw damaged(target, path, 'it holds another number of deliveries')
  return deliveries
}
