/**
 * archiveRun: archives the payloads of a source that are not in the archive yet, one object after the other. An object is
 * complete when it and its manifest have been read back and the store has recorded which payloads it has; only then
 * retention removes these payloads. After a run that died, the next run finds the objects it has written.
 */
import { invalid } from '../../errors.js'
import { need, type Store, type StoredDelivery } from '../../store.js'
import {
  type ArchivedObject,
  type ArchiveFormat,
  damaged,
  dayOf,
  encodeObject,
  type Manifest,
  manifestPath,
  objectPath,
  readManifest,
  readVerified,
  sha256,
  writeManifest,
} from './format.js'
import type { ArchiveTarget } from './target.js'

export interface ArchiveRunOptions {
  readonly store: Store
  readonly target: ArchiveTarget
  readonly source: string
  /** Archives payloads that were received before this time. */
  readonly before: number
  readonly format?: ArchiveFormat
  /** An object is closed when its bodies have this many bytes. Default 16 MiB. */
  readonly objectBytes?: number
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ArchiveProgress) => void) | undefined
  /** Called before the manifest and the store are written; throws when another process has taken over. */
  readonly insist?: (() => Promise<void>) | undefined
}

export interface ArchiveProgress {
  readonly source: string
  readonly day: string
  readonly object: string
  readonly deliveries: number
}

export interface ArchiveReport {
  readonly objects: number
  readonly deliveries: number
}

/** Maximum number of deliveries in one object. */
const OBJECT_DELIVERIES = 10_000
const PAGE = 500
const DAY_MS = 86_400_000

export async function archiveRun(options: ArchiveRunOptions): Promise<ArchiveReport> {
  const { store, source, before, objectBytes = 16 * 1024 * 1024 } = options
  if (!Number.isInteger(objectBytes) || objectBytes < 1)
    throw invalid('objectBytes', 'must be a number of bytes above 0')
  const days = new Map<string, OpenDay>()
  let objects = 0
  let deliveries = 0
  let batch: StoredDelivery[] = []
  let bytes = 0

  async function close(): Promise<void> {
    if (batch.length === 0) return
    const day = dayOf(batch[0]!.receivedAt)
    const open = days.get(day) ?? (await openDay(options, day))
    days.set(day, open)
    const fresh = batch.filter((delivery) => !isArchived(open.archived, delivery))
    batch = []
    bytes = 0
    if (fresh.length === 0) return
    await writeObject(options, open, fresh)
    objects++
    deliveries += fresh.length
  }

  for (let after: number | null = 0; after !== null; ) {
    options.signal?.throwIfAborted()
    const page = await need(store, 'archive', 'archiving').export({
      source,
      from: 0,
      to: before,
      after,
      limit: PAGE,
      unarchived: true,
    })
    for (const delivery of page.deliveries) {
      const sameDay = batch.length === 0 || dayOf(batch[0]!.receivedAt) === dayOf(delivery.receivedAt)
      if (!sameDay || bytes >= objectBytes || batch.length >= OBJECT_DELIVERIES) await close()
      batch.push(delivery)
      bytes += delivery.body.byteLength
    }
    after = page.next
  }
  await close()
  return { objects, deliveries }
}

interface OpenDay {
  readonly day: string
  manifest: Manifest | null
  next: number
  /** Payloads that earlier runs have archived, by seq. */
  readonly archived: ReadonlyMap<number, ArchivedCopy>
}

interface ArchivedCopy {
  readonly object: number
  readonly fingerprint: string
}

/**
 * The seq alone is not enough: a log that was restored from a backup, or a new log with an old archive, uses the same
 * seqs for other payloads.
 */
function isArchived(archived: OpenDay['archived'], delivery: StoredDelivery): boolean {
  return archived.get(delivery.seq)?.fingerprint === fingerprintOf(delivery)
}

const fingerprintOf = ({ receivedAt, body }: StoredDelivery): string => `${receivedAt} ${sha256(body)}`

async function openDay({ store, target, source }: ArchiveRunOptions, day: string): Promise<OpenDay> {
  const manifest = await readManifest(target, manifestPath(source, day))
  const objects = manifest?.objects ?? []
  const archived = new Map<number, ArchivedCopy>()
  for (const { number, ...object } of objects) {
    for (const delivery of await readVerified(target, { number, ...object }))
      archived.set(delivery.seq, { object: number, fingerprint: fingerprintOf(delivery) })
  }
  if (archived.size > 0) await recordArchived(store, source, day, archived)
  return { day, manifest, archived, next: Math.max(0, ...objects.map((object) => object.number)) + 1 }
}

/** Records in the store which payloads of this day are archived, in case an earlier run died before it did. */
async function recordArchived(
  store: Store,
  source: string,
  day: string,
  archived: OpenDay['archived'],
): Promise<void> {
  const from = Date.parse(day)
  const seqs = new Map<number, number[]>()
  for (let after: number | null = 0; after !== null; ) {
    const page = await need(store, 'archive', 'archiving').export({
      source,
      from,
      to: from + DAY_MS,
      after,
      limit: PAGE,
    })
    for (const delivery of page.deliveries) {
      if (!isArchived(archived, delivery)) continue
      const { object } = archived.get(delivery.seq)!
      const own = seqs.get(object) ?? []
      seqs.set(object, own)
      own.push(delivery.seq)
    }
    after = page.next
  }
  await need(store, 'archive', 'archiving').archived(
    [...seqs].map(([object, own]) => ({ source, day, object, seqs: own })),
  )
}

async function writeObject(
  options: ArchiveRunOptions,
  open: OpenDay,
  deliveries: readonly StoredDelivery[],
): Promise<void> {
  const { store, target, source, format = 'jsonl', insist } = options
  const { day } = open
  const bytes = await encodeObject(format, deliveries)
  const seqs = deliveries.map((delivery) => delivery.seq)
  // The number may belong to an object of a run that died before it wrote the manifest. That object is ignored and stays.
  let path = objectPath(source, day, open.next, format)
  while (!(await target.create(path, bytes))) path = objectPath(source, day, ++open.next, format)
  const object: ArchivedObject = {
    number: open.next++,
    path,
    format,
    deliveries: deliveries.length,
    events: deliveries.reduce((all, delivery) => all + delivery.events.length, 0),
    bytes: bytes.byteLength,
    sha256: sha256(bytes),
    firstSeq: Math.min(...seqs),
    lastSeq: Math.max(...seqs),
  }
  const back = await readVerified(target, object)
  if (back.some((delivery, i) => !same(delivery, deliveries[i]!)))
    throw damaged(target, path, 'it was read back with other content than was written')
  await insist?.()
  open.manifest = await writeManifest(target, open.manifest, { source, day }, object)
  await insist?.()
  await need(store, 'archive', 'archiving').archived([{ source, day, object: object.number, seqs }])
  options.onProgress?.({ source, day, object: path, deliveries: deliveries.length })
}

function same(a: StoredDelivery, b: StoredDelivery): boolean {
  return a.seq === b.seq && a.receivedAt === b.receivedAt && Buffer.compare(a.body, b.body) === 0
}
