/**
 * The database file, made before SQLite opens it so that only its owner can read it; SQLite gives -wal and -shm the
 * same mode. An existing file keeps its mode and is not touched.
 *
 * POSIX drops all locks a process holds on a file when the process closes any descriptor of it. An existing database
 * is therefore never opened outside SQLite: this process may hold it already, and a program that looks at the log would
 * find no lock, take itself for the last one, and delete the write-ahead log while we write to it.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

const MODE = 0o600
/** As Linux follows them. */
const MAX_LINKS = 40

export function createFile(path: string): void {
  const place = linkTarget(path)
  mkdirSync(dirname(place), { recursive: true })
  if (existsSync(place)) return
  // A file that is made under its own name can be opened by another thread before its descriptor here is closed. It is
  // made under another one, closed, and then named.
  const made = `${place}.${process.pid}-${randomBytes(6).toString('hex')}.new`
  closeSync(openSync(made, 'wx', MODE))
  try {
    linkSync(made, place)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) createInPlace(place)
  } finally {
    rmSync(made, { force: true })
  }
}

/** For file systems without hard links. */
function createInPlace(path: string): void {
  try {
    closeSync(openSync(path, 'wx', MODE))
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
}

/** Where a link that may lead nowhere yet points to: SQLite would make that file readable for all. */
function linkTarget(path: string): string {
  let place = path
  for (let links = 0; links < MAX_LINKS; links++) {
    if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return place
    place = resolve(dirname(place), readlinkSync(place))
  }
  return path
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}
