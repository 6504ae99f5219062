/** How far a listener has come, on disk: written whole, flushed and renamed, so that a crash leaves the old or the new. */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folder } from '../dev/folder.js'
import { Failure } from '../failure.js'

export interface Cursor {
  readonly path: string
  /** Null: nothing has been passed on yet. */
  readonly position: number | null
  /** Everything up to here has been passed on. */
  move(position: number): void
}

/** One for each log, target and choice of events: another target starts on its own. */
export function openCursor(about: Readonly<Record<string, string | undefined>>): Cursor {
  const name = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 12)
  const path = join(folder, `listen-${name}.json`)
  let position = read(path)
  return {
    path,
    get position() {
      return position
    },
    move(next) {
      if (next === position) return
      write(path, `${JSON.stringify({ position: next, ...about })}\n`)
      position = next
    },
  }
}

function read(path: string): number | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const { position } = JSON.parse(text) as { position: unknown }
    if (Number.isSafeInteger(position)) return position as number
  } catch {
    // said below
  }
  throw new Failure(`${path} is damaged. Remove it to start from now, or give --since to say from when.`)
}

function write(path: string, text: string): void {
  const next = `${path}.next`
  const file = openSync(next, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
  flushFolder(dirname(path))
}

/** The new name is only safe once its folder is. Not every system can flush one. */
function flushFolder(path: string): void {
  try {
    const handle = openSync(path, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch {
    // what was there before is then still there
  }
}
