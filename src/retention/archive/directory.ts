/** An archive in a directory: an object is written to a temporary file, flushed, then renamed. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { invalid } from '../../errors.js'
import { archiveRun } from './run.js'
import { type ArchiveTarget, type ArchiveVerb, archiveFailed, MOST_BYTES, withRun } from './target.js'

export function directory(path: string): ArchiveTarget {
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw invalid('directory(path): `path`', 'must be a non-empty string')
  const root = resolve(path)
  const name = `directory ${path}`

  async function guarded<T>(verb: ArchiveVerb, at: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw archiveFailed(name, verb, at, (error as NodeJS.ErrnoException).code ?? 'unexpected')
    }
  }

  /** `place` gives the flushed file its final name. */
  async function write(at: string, bytes: Uint8Array, place: (from: string, to: string) => Promise<void>) {
    const to = join(root, at)
    const from = `${to}.${randomBytes(6).toString('hex')}.part`
    await mkdir(dirname(to), { recursive: true })
    const file = await open(from, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
      await file.close()
      await place(from, to)
      await syncFolders(root, dirname(to))
    } finally {
      await file.close().catch(() => {})
      await rm(from, { force: true })
    }
  }

  const target: ArchiveTarget = {
    name,
    create: (at, bytes) =>
      guarded('write', at, async () => {
        try {
          await write(at, bytes, link) // unlike rename, link fails when the name exists
          return true
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
          throw error
        }
      }),
    replace: (at, bytes) => guarded('write', at, () => write(at, bytes, rename)),
    read: (at) =>
      guarded('read', at, async () => {
        try {
          return await readFile(await insideOf(root, at))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
          throw error
        }
      }),
    async *list(folder) {
      const entries = await guarded('list', folder, () => walk(root, folder))
      yield* entries.sort()
    },
  }
  return withRun(target, archiveRun)
}

/** Refuses names and links that lead out of the archive or to another of its files. */
async function insideOf(root: string, at: string): Promise<string> {
  const realRoot = await realpath(root)
  const path = join(realRoot, at)
  if (!path.startsWith(realRoot + sep) || (await realpath(path)) !== path)
    throw Object.assign(new Error(), { code: 'it is a link, or not in the archive' })
  if ((await stat(path)).size > MOST_BYTES)
    throw Object.assign(new Error(), { code: 'it is larger than an object may be' })
  return path
}

async function walk(root: string, folder: string): Promise<string[]> {
  const found: string[] = []
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  for (const entry of entries) {
    const at = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) found.push(...(await walk(root, at)))
    else if (entry.isFile() && !entry.name.endsWith('.part')) found.push(at)
  }
  return found
}

/** A name is durable only after the folder around it was flushed. */
async function syncFolders(root: string, from: string): Promise<void> {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const handle = await open(folder, 'r')
    await handle.sync().catch(() => {}) // not supported by some file systems
    await handle.close()
    if (folder === root || folder === dirname(folder)) return
  }
}
