/** Where an archive lives: a few verbs on named objects. `directory` and `s3` are the two that come with it. */
import { HookonceError } from '../../errors.js'

export interface ArchiveTarget {
  /** For logs and errors; never a credential. */
  readonly name: string
  /** Writes an object that was not there. False = there is one of that name; nothing was written. Durable when it resolves. */
  create(path: string, bytes: Uint8Array): Promise<boolean>
  /** Writes an object, or puts another in its place, whole. Durable when it resolves. */
  replace(path: string, bytes: Uint8Array): Promise<void>
  /** Null when there is none. */
  read(path: string): Promise<Uint8Array | null>
  /** The names under a folder, in order. */
  list(folder: string): AsyncIterable<string>
}

type ArchiveVerb = 'read' | 'write' | 'list'

export function archiveFailed(
  archive: string,
  verb: ArchiveVerb,
  path: string,
  problem: string,
): HookonceError {
  return new HookonceError('ARCHIVE_FAILED', { archive, verb, path: path || 'its objects', problem })
}
