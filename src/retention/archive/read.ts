import { isHookonceError } from '../../errors.js'
import { need, type Store, type StoredDelivery } from '../../store.js'
import { type Manifest, readManifest, readVerified } from './format.js'
import type { ArchiveTarget } from './target.js'

export interface ArchiveFilter {
  readonly source?: string
  /** Days, UTC, `yyyy-mm-dd`, both inclusive. */
  readonly from?: string
  readonly to?: string
}

export async function* archiveList(
  target: ArchiveTarget,
  filter: ArchiveFilter = {},
): AsyncGenerator<Manifest> {
  for await (const { path } of filesOf(target, filter)) {
    const manifest = path.endsWith('/manifest.json') ? await readManifest(target, path) : null
    if (manifest) yield manifest
  }
}

export interface ArchiveCheck {
  readonly source: string
  readonly day: string
  readonly objects: number
  readonly deliveries: number
  /** Empty when the archive of the day is complete and undamaged. */
  readonly problems: readonly string[]
  /** Objects of runs that ended before they wrote the manifest. They can be deleted. */
  readonly unlisted: readonly string[]
}

export async function* archiveVerify(
  target: ArchiveTarget,
  filter: ArchiveFilter = {},
): AsyncGenerator<ArchiveCheck> {
  for (const [folder, paths] of await daysOf(target, filter)) {
    const [source = '', day = ''] = folder.split('/')
    const problems: string[] = []
    let manifest: Manifest | null = null
    try {
      manifest = await readManifest(target, `${folder}/manifest.json`)
    } catch (error) {
      problems.push(problemOf(error))
    }
    for (const object of manifest?.objects ?? []) {
      await readVerified(target, object).catch((error: unknown) => problems.push(problemOf(error)))
    }
    const listed = new Set(manifest?.objects.map((object) => object.path))
    yield {
      source: decodeURIComponent(source),
      day,
      objects: manifest?.objects.length ?? 0,
      deliveries: manifest?.deliveries ?? 0,
      problems,
      unlisted: paths.filter((path) => !path.endsWith('/manifest.json') && !listed.has(path)),
    }
  }
}

export interface ArchiveRestoreOptions extends ArchiveFilter {
  readonly store: Store
  readonly target: ArchiveTarget
  readonly eventIds?: readonly string[]
  readonly actor: string
  readonly note: string
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: RestoreReport) => void
}

export interface RestoreReport {
  readonly restored: number
  /** Deliveries whose event was removed or erased, or whose payload is still stored. */
  readonly skipped: number
  /** Deliveries in objects that this log has not archived, or that were changed since. */
  readonly refused: number
}

const RESTORE_DELIVERIES = 200
const RESTORE_BYTES = 8 * 1024 * 1024

/**
 * Restores payloads of events that are still in the log, so that they can be replayed. Writes an audit entry. An object of
 * which the log has no receipt is refused: somebody may have changed it together with its manifest.
 */
export async function archiveRestore(options: ArchiveRestoreOptions): Promise<RestoreReport> {
  const { store, target, eventIds, actor, note, source = null } = options
  const archive = need(store, 'archive', 'restoring from an archive')
  const wanted = eventIds && new Set(eventIds)
  let restored = 0
  let skipped = 0
  let refused = 0
  for await (const manifest of archiveList(target, options)) {
    const receipts = await archive.receipts({ source: manifest.source, day: manifest.day })
    for (const object of manifest.objects) {
      const receipt = receipts.find(({ sha256 }) => sha256 === object.sha256)
      if (receipt === undefined) refused += object.deliveries
      if (receipt === undefined) continue
      const known = new Set(receipt.seqs)
      const deliveries = (await readVerified(target, object)).filter(
        ({ seq, events }) => known.has(seq) && (!wanted || events.some((event) => wanted.has(event.id))),
      )
      for (const batch of batches(deliveries)) {
        options.signal?.throwIfAborted()
        for (const done of await archive.restore(batch)) done ? restored++ : skipped++
        options.onProgress?.({ restored, skipped, refused })
      }
    }
  }
  await store.audit?.append([
    {
      actor,
      verb: 'restore',
      source,
      eventId: null,
      note: `${restored} payloads: ${note}`.slice(0, 900),
    },
  ])
  return { restored, skipped, refused }
}

function* batches(deliveries: readonly StoredDelivery[]): Generator<StoredDelivery[]> {
  let batch: StoredDelivery[] = []
  let bytes = 0
  for (const delivery of deliveries) {
    if (
      batch.length === RESTORE_DELIVERIES ||
      (batch.length > 0 && bytes + delivery.body.byteLength > RESTORE_BYTES)
    ) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(delivery)
    bytes += delivery.body.byteLength
  }
  if (batch.length > 0) yield batch
}

async function daysOf(target: ArchiveTarget, filter: ArchiveFilter): Promise<Map<string, string[]>> {
  const days = new Map<string, string[]>()
  for await (const { folder, path } of filesOf(target, filter))
    days.set(folder, [...(days.get(folder) ?? []), path])
  return days
}

async function* filesOf(
  target: ArchiveTarget,
  { source, from, to }: ArchiveFilter,
): AsyncGenerator<{ readonly folder: string; readonly path: string }> {
  for await (const path of target.list(source === undefined ? '' : encodeURIComponent(source))) {
    const [, folder, day] = /^([^/]+\/(\d{4}-\d\d-\d\d))\/[^/]+$/.exec(path) ?? []
    if (folder === undefined || day === undefined) continue
    if ((from === undefined || day >= from) && (to === undefined || day <= to)) yield { folder, path }
  }
}

function problemOf(error: unknown): string {
  if (isHookonceError(error)) return error.message
  throw error
}
