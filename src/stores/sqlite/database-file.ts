/** Creates the file of the database, and checks that nobody has replaced or cut it while it is open. */
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
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { HookonceError } from '../../errors.js'
import { writeAheadLog } from './write-ahead-log.js'

const MODE = 0o600
/** Linux follows no more. */
const MAX_LINKS = 40

/**
 * Creates the file before SQLite opens it, so that only its owner can read it; SQLite gives -wal and -shm the same mode.
 * An existing file keeps its mode and is not opened.
 *
 * POSIX drops all locks of a process on a file when the process closes any descriptor of that file. This process may
 * already have the database open. If it opened and closed the file outside SQLite, another program that opens the log
 * would find no lock, and would delete the write-ahead log on closing while this process still writes to it.
 */
export function createFile(path: string): void {
  const place = linkTarget(path)
  mkdirSync(dirname(place), { recursive: true })
  if (existsSync(place)) return
  // Under its final name, another thread could open the file before the descriptor here is closed. The file is therefore
  // created and closed under a temporary name, and then linked to its final name.
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

function createInPlace(path: string): void {
  try {
    closeSync(openSync(path, 'wx', MODE))
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
}

/** SQLite would create the missing target of a symbolic link readable for everyone. */
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

export interface DatabaseFiles {
  /** Each of these throws when a file has been removed, replaced or cut since the first call. 8 microseconds. */
  verify(): void
  /** Call it under the write lock, before the first write of a transaction. */
  begin(): void
  committed(): void
  readonly lost: boolean
  close(): void
}

/**
 * The files at the path of an open connection may be others by now: somebody has restored a copy, or another program has
 * removed them because this process dropped SQLite's locks (by a second SQLite library, or by opening and closing the
 * file). A commit would still succeed, into a file that has no name any more.
 */
export function databaseFiles(path: string): DatabaseFiles {
  const names = [path, `${path}-wal`]
  const wal = writeAheadLog(names[1]!)
  let known: readonly string[] | null = null
  let lost = false

  function check(isWhole: (walSize: number) => boolean): void {
    const found = names.map((name) => statSync(name, { throwIfNoEntry: false }))
    const identities = found.map((file) => (file ? `${file.dev}:${file.ino}` : 'none'))
    known ??= identities
    lost ||= identities.some((identity, i) => identity !== known![i]) || !isWhole(found[1]?.size ?? 0)
    if (!lost) return
    throw new HookonceError('STORE_UNAVAILABLE', {
      problem: `${path} or its -wal file was removed, replaced or cut while it is open; restart this process`,
    })
  }

  return {
    verify: () => check(() => true),
    begin: () => check(wal.begin),
    committed: () => check(wal.committed),
    get lost() {
      return lost
    },
    close: wal.close,
  }
}
