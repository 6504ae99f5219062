/** An archive target has named objects. `directory` and `s3` implement it. */
import { HookonceError } from '../../errors.js'
import { importPart } from '../../optional-module.js'
import type { archiveRun } from './run.js'

export interface ArchiveTarget {
  /** Shown in log lines and errors; never a credential. */
  readonly name: string
  /** False = the name exists, and nothing was written. The object is durable when it resolves. */
  create(path: string, bytes: Uint8Array): Promise<boolean>
  /** Writes an object or replaces it atomically. The object is durable when it resolves. */
  replace(path: string, bytes: Uint8Array): Promise<void>
  read(path: string): Promise<Uint8Array | null>
  /** The names under a folder, in order. */
  list(folder: string): AsyncIterable<string>
}

/** Objects of hookonce are smaller, even decompressed. */
export const MOST_BYTES = 512 * 1024 * 1024

/** A target brings the code that fills it: `import 'hookonce'` does not load it. */
const RUN = Symbol.for('hookonce.archiveRun')

type ArchiveRun = typeof archiveRun

export function withRun(target: ArchiveTarget, run: ArchiveRun): ArchiveTarget {
  return Object.defineProperty(target, RUN, { value: run })
}

export async function runOf(target: ArchiveTarget & { readonly [RUN]?: ArchiveRun }): Promise<ArchiveRun> {
  const { [RUN]: run } = target
  return run ?? (await importPart<typeof import('./index.js')>('hookonce/archive')).archiveRun
}

export type ArchiveVerb = 'read' | 'write' | 'list'

export function archiveFailed(
  archive: string,
  verb: ArchiveVerb,
  path: string,
  problem: string,
): HookonceError {
  return new HookonceError('ARCHIVE_FAILED', { archive, verb, path: path || 'its objects', problem })
}
