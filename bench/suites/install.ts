/** What `npm install` brings: the package itself and everything it depends on, from lock files and node_modules. */
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Suite } from '../suite.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const queues = join(root, 'extras/queues')

interface LockEntry {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
type Lock = Readonly<Record<string, LockEntry>>

export const install: Suite = {
  name: 'install',
  title: 'Size of an installation',
  minutes: 0.25,
  async run(bench) {
    const packed = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 64 * 2 ** 20,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ size: number; unpackedSize: number }]
    const [{ size, unpackedSize }] = packed
    const own = closure(root, Object.keys(lockOf(root)['']!.dependencies ?? {}))
    const withPg = [...new Set([...own, ...closure(root, ['pg'])])]
    const others = {
      express: { name: 'Express + pg', places: closure(root, ['express', 'pg']) },
      'pg-boss': { name: 'pg-boss', places: closure(queues, ['pg-boss']) },
      graphile: { name: 'graphile-worker', places: closure(queues, ['graphile-worker']) },
      bullmq: { name: 'BullMQ', places: closure(queues, ['bullmq']) },
    }
    const figures: Record<string, number> = {
      own: (unpackedSize + bytesOf(own)) / 1e6,
      withPg: (unpackedSize + bytesOf(withPg)) / 1e6,
    }
    for (const [key, { places }] of Object.entries(others)) figures[key] = bytesOf(places) / 1e6
    const rows = [
      ['hookonce', own.length + 1, figures.own!],
      ['hookonce + pg', withPg.length + 1, figures.withPg!],
      ...Object.entries(others).map(([key, { name, places }]) => [name, places.length, figures[key]!]),
    ]
    bench.notes.push(`The tarball of hookonce has ${(size / 1e6).toFixed(2)} MB.`)
    return {
      tables: [{ title: 'Unpacked', head: ['installation', 'packages', 'MB'], rows }],
      figures,
    }
  },
}

function lockOf(home: string): Lock {
  return JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8')).packages
}

/** The folders of the packages and of everything they need, as npm resolves them. */
function closure(home: string, names: readonly string[]): string[] {
  const lock = lockOf(home)
  const found = new Set<string>()
  const add = (name: string, from: string): void => {
    const place = resolve(lock, name, from)
    if (place === undefined || found.has(place)) return
    found.add(place)
    const { dependencies = {}, optionalDependencies = {} } = lock[place]!
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) add(next, place)
  }
  for (const name of names) add(name, '')
  // Optional packages of other platforms are in the lock file and not in the folder.
  return [...found].map((place) => join(home, place)).filter(isThere)
}

/** In the folder of the package that needs it, or in the nearest one above. */
function resolve(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; ) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock[place]) return place
    if (folder === '') return undefined
    const end = folder.lastIndexOf('/node_modules/')
    folder = end < 0 ? '' : folder.slice(0, end)
  }
}

function bytesOf(places: readonly string[]): number {
  return places.reduce((sum, place) => sum + folderBytes(place), 0)
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    // Packages inside are counted on their own.
    if (entry.isDirectory())
      return entry.name === 'node_modules' ? sum : sum + folderBytes(join(folder, entry.name))
    return sum + lstatSync(join(folder, entry.name)).size
  }, 0)
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
