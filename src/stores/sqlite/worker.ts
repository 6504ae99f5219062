/**
 * Starts the threads of the SQLite store and of the spool, each from the text of one script, which
 * `scripts/thread-sources.mjs` writes. A bundler does not carry the file of a thread along, and one script starts in less
 * time than a module with its imports.
 */
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { HookonceError } from '../../errors.js'

export interface ThreadProgram {
  /** The address of the module that starts the thread; undefined in a bundle of the format CommonJS. */
  readonly starter: string | undefined
  /** The code of the thread as one script. */
  readonly source: string
}

/**
 * The space for new objects of a thread. The default grows to 48 MB, and a thread only handles messages that are soon
 * garbage.
 */
const YOUNG_MB = 6

export function startWorker({ starter, source }: ThreadProgram, name: string, workerData: object): Worker {
  // The flags of the program (--input-type, --inspect-brk, loaders) are not meant for this thread.
  const options = { name, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }
  if (source === '')
    throw new HookonceError('STORE_FAILED', { problem: 'the code of its thread was not built' })
  // The thread looks for an SQLite driver from here.
  const base = starter ?? pathToFileURL(`${process.cwd()}/`).href
  return new Worker(source, { ...options, workerData: { ...workerData, base }, eval: true })
}
