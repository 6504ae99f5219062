/** Archives whose files were cut or changed: the damage is reported, and no delivery comes back other than it was. */

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { isHookonceError } from 'hookonce'
import { type ArchiveTarget, archiveList, archiveRestore, archiveRun, archiveVerify } from 'hookonce/archive'
import type { StoredDelivery } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { directoryArchive } from '../support/archives.js'
import { ids, onLog, postAll } from '../support/processing.js'
import { fuzzRuns } from './runs.js'

const change = fc.record({
  file: fc.nat(),
  at: fc.nat(),
  how: fc.oneof(
    fc.constant({ do: 'cut' as const }),
    fc.integer({ min: 1, max: 255 }).map((mask) => ({ do: 'flip' as const, mask })),
    fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => ({ do: 'insert' as const, bytes })),
    fc.constant({ do: 'swap' as const }),
  ),
})

const digest = (one: StoredDelivery) =>
  createHash('sha256')
    .update(JSON.stringify([one.seq, one.headers, one.events, Buffer.from(one.body).toString('base64')]))
    .digest('hex')

onLog('SQLite', (bench) => {
  test('damage is reported, and nothing else is restored', async () => {
    const { inbox } = bench.inbox()
    await postAll(
      inbox,
      ids(12).map((id) => ({ id })),
    )
    const store = await wholeInbox(inbox).store()
    const archive = await directoryArchive()
    try {
      await archiveRun({
        store,
        target: archive.target,
        source: 'shop',
        before: Date.now() + 1_000,
      })
      const files = new Map<string, Uint8Array>()
      for await (const path of archive.target.list('')) files.set(path, (await archive.target.read(path))!)
      const receipts = await archiveReceipts(memory(files))
      const whole = await restored(memory(files), receipts)
      expect(whole.length).toBe(12)
      const known = new Set(whole.map(digest))
      await fc.assert(
        fc.asyncProperty(change, async (wanted) => {
          const damaged = changed(files, wanted)
          const checks = []
          for await (const check of archiveVerify(memory(damaged))) checks.push(check)
          try {
            const found = await restored(memory(damaged), receipts)
            for (const one of found) expect(known).toContain(digest(one))
            // A manifest whose damage leaves nothing to restore must not pass as an archive that is whole.
            const isReported = checks.some(({ problems, unlisted }) => problems.length + unlisted.length > 0)
            if (found.length < 12) expect(isReported).toBe(true)
          } catch (error) {
            if (!isHookonceError(error)) throw error
            expect(checks.some(({ problems }) => problems.length > 0)).toBe(true)
          }
        }),
        { numRuns: fuzzRuns(200, 20) },
      )
    } finally {
      await archive.remove()
    }
  })
})

/** The digests of the objects, as the log has them. */
async function archiveReceipts(target: ArchiveTarget): Promise<string[]> {
  const found: string[] = []
  for await (const { objects } of archiveList(target)) found.push(...objects.map(({ sha256 }) => sha256))
  return found
}

/** The deliveries that a restore would write. */
async function restored(target: ArchiveTarget, receipts: readonly string[]): Promise<StoredDelivery[]> {
  const found: StoredDelivery[] = []
  const store = {
    archive: {
      receipts: async () => receipts.map((sha256) => ({ sha256, seqs: ids(1_000).map((_, i) => i) })),
      async restore(batch: readonly StoredDelivery[]) {
        found.push(...batch)
        return batch.map(() => true)
      },
    },
  }
  await archiveRestore({ store: store as never, target, actor: 'ada', note: 'fuzz' })
  return found
}

function changed(
  files: ReadonlyMap<string, Uint8Array>,
  wanted: typeof change extends fc.Arbitrary<infer T> ? T : never,
) {
  const paths = [...files.keys()]
  const path = paths[wanted.file % paths.length]!
  const bytes = Buffer.from(files.get(path)!)
  const at = wanted.at % bytes.length
  const { how } = wanted
  const other = files.get(paths[(wanted.file + 1) % paths.length]!)!
  const result =
    how.do === 'cut'
      ? bytes.subarray(0, at)
      : how.do === 'swap'
        ? Buffer.from(other)
        : how.do === 'insert'
          ? Buffer.concat([bytes.subarray(0, at), how.bytes, bytes.subarray(at)])
          : Buffer.concat([
              bytes.subarray(0, at),
              Buffer.from([bytes[at]! ^ how.mask]),
              bytes.subarray(at + 1),
            ])
  return new Map([...files, [path, result]])
}

function memory(files: ReadonlyMap<string, Uint8Array>): ArchiveTarget {
  return {
    name: 'memory',
    read: async (path: string) => files.get(path) ?? null,
    async *list(prefix: string) {
      for (const path of [...files.keys()].sort()) if (path.startsWith(prefix)) yield path
    },
    write: async () => {
      throw new Error('read only')
    },
  } as unknown as ArchiveTarget
}
