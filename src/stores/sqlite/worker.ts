/**
 * Starts the threads of the SQLite store and of the spool. Each thread is a file beside the one that starts it. A
 * bundler does not carry that file along, so the package also has the code of each thread as text
 * (`scripts/thread-sources.mjs` writes it), and a bundle starts the thread from that.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
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

/** Only an unbundled module has this address; a bundler may also keep the address of the file it has read. */
const UNBUNDLED = /(\/dist\/(?:stores\/sqlite|spool)\/)(?:thread-link|spool)\.js$/

export function startWorker({ starter, source }: ThreadProgram, name: string, workerData: object): Worker {
  // The flags of the program (--input-type, --inspect-brk, loaders) are not meant for this thread.
  const options = { name, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }
  // Not `new URL('./thread.js', import.meta.url)`: bundlers replace that by a copy of the file without its imports.
  const file = starter && UNBUNDLED.test(starter) ? starter.replace(UNBUNDLED, '$1thread.js') : null
  if (file !== null && existsSync(fileURLToPath(file)))
    return new Worker(new URL(file), { ...options, workerData })
  if (source === '')
    throw new HookonceError('STORE_FAILED', { problem: 'the code of its thread was not built' })
  // The thread looks for an SQLite driver where the bundle is.
  const base = starter ?? pathToFileURL(`${process.cwd()}/`).href
  return new Worker(source, { ...options, workerData: { ...workerData, base }, eval: true })
}
