/** The file is written, flushed and renamed: a crash cannot damage it. */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folder } from '../dev/folder.js'
import { Failure } from '../failure.js'

interface Cursor {
  readonly position: number | null
  move(position: number): void
}

export function openCursor(subject: Readonly<Record<string, string | undefined>>): Cursor {
  const name = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 12)
  const path = join(folder, `listen-${name}.json`)
  let position = read(path)
  return {
    get position() {
      return position
    },
    move(next) {
      if (next === position) return
      write(path, `${JSON.stringify({ position: next, ...subject })}\n`)
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
    // not JSON: damaged, like JSON without a position
  }
  throw new Failure(`${path} is damaged. Delete it to start with new events, or delete it and give --since.`)
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

/** The new name survives a crash only when its folder is flushed. Some systems cannot do that. */
function flushFolder(path: string): void {
  try {
    const handle = openSync(path, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch {
    // a crash may then bring back the previous position
  }
}
