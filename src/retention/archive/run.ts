/**
 * Archives the payloads of a source that no archive has, one object after the other. An object is complete when it and its
 * manifest have been read back and the store has recorded which payloads it has; only then retention removes these
 * payloads. After a run that died, the next run finds the objects it has written.
 */
import { invalid } from '../../errors.js'
import {
  type Archive,
  type ArchiveReceipt,
  type ExportOptions,
  type ExportPage,
  need,
  type Store,
  type StoredDelivery,
} from '../../store.js'
import {
  type ArchivedObject,
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
  readonly before: number
  /** An object is closed when its bodies have this many bytes. Default 16 MiB, at most 64 MiB. */
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

const OBJECT_DELIVERIES = 10_000
const MOST_OBJECT_BYTES = 64 * 1024 * 1024
const PAGE = 500
const DAY_MS = 86_400_000

export async function archiveRun(options: ArchiveRunOptions): Promise<ArchiveReport> {
  const { store, source, before, objectBytes = 16 * 1024 * 1024 } = options
  if (!Number.isInteger(objectBytes) || objectBytes < 1 || objectBytes > MOST_OBJECT_BYTES)
    throw invalid('objectBytes', `must be a number of bytes from 1 to ${MOST_OBJECT_BYTES}`)
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
    const fresh = batch.filter((delivery) => !open.archived.has(fingerprintOf(delivery)))
    batch = []
    bytes = 0
    if (fresh.length === 0) return
    await writeObject(options, open, fresh)
    objects++
    deliveries += fresh.length
  }

  for await (const page of pagesOf(store, { source, from: 0, to: before, unarchived: true })) {
    options.signal?.throwIfAborted()
    for (const delivery of page) {
      const sameDay = batch.length === 0 || dayOf(batch[0]!.receivedAt) === dayOf(delivery.receivedAt)
      if (!sameDay || bytes >= objectBytes || batch.length >= OBJECT_DELIVERIES) await close()
      batch.push(delivery)
      bytes += delivery.body.byteLength
    }
  }
  await close()
  return { objects, deliveries }
}

async function* pagesOf(
  store: Store,
  range: Omit<ExportOptions, 'after' | 'limit'>,
): AsyncGenerator<readonly StoredDelivery[]> {
  const archive = archiveOf(store)
  for (let after: number | null = 0; after !== null; ) {
    const page: ExportPage = await archive.export({ ...range, after, limit: PAGE })
    yield page.deliveries
    after = page.next
  }
}

function archiveOf(store: Store): Archive {
  return need(store, 'archive', 'archiving')
}

interface OpenDay {
  readonly day: string
  manifest: Manifest | null
  next: number
  readonly archived: ReadonlySet<string>
}

/**
 * The seq alone is not enough: a log that was restored from a backup, or a new log with an old archive, uses the same
 * seqs for other payloads.
 */
function fingerprintOf({ seq, receivedAt, headers, body, events }: StoredDelivery): string {
  const ids = events.map((event) => [event.seq, event.id, event.part, event.contentHash])
  return sha256(Buffer.concat([Buffer.from(JSON.stringify([seq, receivedAt, headers, ids])), body]))
}

/**
 * Records the receipts of objects that an earlier run has written before it died. Such an object counts only when the log has
 * all its deliveries byte for byte: nobody has changed it since. Otherwise its payloads are archived again.
 */
async function openDay({ store, target, source }: ArchiveRunOptions, day: string): Promise<OpenDay> {
  const manifest = await readManifest(target, manifestPath(source, day))
  const objects = manifest?.objects ?? []
  const known = new Set((await archiveOf(store).receipts({ source, day })).map(({ object }) => object))
  const stored = objects.length === 0 ? new Set<string>() : await storedOn(store, source, day)
  const archived = new Set<string>()
  const receipts: ArchiveReceipt[] = []
  for (const object of objects) {
    // The number may be that of an object in another archive, which can still be restored.
    if (known.has(object.number)) continue
    const deliveries = await readVerified(target, object)
    const fingerprints = deliveries.map(fingerprintOf)
    if (deliveries.length === 0 || !fingerprints.every((one) => stored.has(one))) continue
    for (const one of fingerprints) archived.add(one)
    const seqs = deliveries.map(({ seq }) => seq)
    receipts.push({ source, day, object: object.number, seqs, sha256: object.sha256 })
  }
  if (receipts.length > 0) await archiveOf(store).archived(receipts)
  const numbers = [...known, ...objects.map(({ number }) => number)]
  return { day, manifest, archived, next: Math.max(0, ...numbers) + 1 }
}

async function storedOn(store: Store, source: string, day: string): Promise<Set<string>> {
  const from = Date.parse(day)
  const found = new Set<string>()
  for await (const page of pagesOf(store, { source, from, to: from + DAY_MS }))
    for (const delivery of page) found.add(fingerprintOf(delivery))
  return found
}

async function writeObject(
  options: ArchiveRunOptions,
  open: OpenDay,
  deliveries: readonly StoredDelivery[],
): Promise<void> {
  const { store, target, source, insist } = options
  const { day } = open
  const bytes = await encodeObject(deliveries)
  const seqs = deliveries.map((delivery) => delivery.seq)
  // The number may belong to an object of a run that died before it wrote the manifest. That object is ignored and stays.
  let path = objectPath(source, day, open.next)
  while (!(await target.create(path, bytes))) path = objectPath(source, day, ++open.next)
  const object: ArchivedObject = {
    number: open.next++,
    path,
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
  await archiveOf(store).archived([{ source, day, object: object.number, seqs, sha256: object.sha256 }])
  options.onProgress?.({ source, day, object: path, deliveries: deliveries.length })
}

function same(a: StoredDelivery, b: StoredDelivery): boolean {
  return a.seq === b.seq && a.receivedAt === b.receivedAt && Buffer.compare(a.body, b.body) === 0
}
