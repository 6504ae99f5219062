/**
 * Notices when the files behind an open connection are no longer those at its path: deleted, replaced by a restored
 * copy, or taken away by another program because something in this process dropped SQLite's locks (a second SQLite
 * library, or a plain open and close of the file). A commit would still succeed, into a file that nobody can find again.
 */
import { statSync } from 'node:fs'
import { HookonceError } from '../../errors.js'

export interface FileIdentity {
  /** Throws when a file has been removed or replaced since the first call. About 8 microseconds. */
  insist(): void
  readonly lost: boolean
}

export function fileIdentity(path: string): FileIdentity {
  const names = [path, `${path}-wal`]
  let known: readonly string[] | null = null
  let lost = false
  return {
    insist() {
      const found = names.map(identityOf)
      known ??= found
      lost ||= found.some((identity, i) => identity !== known![i])
      if (!lost) return
      throw new HookonceError('STORE_UNAVAILABLE', {
        problem: `${path} or its -wal file was removed or replaced while it is open; restart this process`,
      })
    },
    get lost() {
      return lost
    },
  }
}

function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : 'none'
}
