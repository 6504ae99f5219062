/**
 * A local file takes verified deliveries while the store is unavailable; they are recorded when it is back. `gate.ts` is the
 * way in, `drain.ts` the way out.
 */
import { resolve } from 'node:path'
import { type Duration, msOf } from '../duration.js'
import { HookonceError, isHookonceError } from '../errors.js'
import { checkOptions, duration, type Rule, required, rule, shape, whole } from '../options.js'
import type { BatchRecorder, LogRecorder } from '../recorder.js'
import { type CallingThread, startCallingThread } from '../stores/sqlite/thread-calls.js'
import { Drain, type DrainDeps } from './drain.js'
import { Circuit, isForTheSpool, spoolGate } from './gate.js'
import type { SpoolRow } from './row.js'
import type { SpoolCall, SpoolFileOptions, SpoolThread, SpoolVerb } from './spool-file.js'
import { threadSource } from './thread-source.js'

export interface SpoolOptions {
  /** The file. Processes on one host may share it. */
  readonly path: string
  /** Maximum size, including deliveries that are set aside. When it is full, senders get 503. Default 256 MiB. */
  readonly maxBytes?: number
  /**
   * Time limit of a commit; after it, its deliveries are spooled as well. Default `'2s'`; at most half of
   * `limits.recordTimeout`.
   */
  readonly after?: Duration
}

export const spoolRule = shape({
  path: required(
    rule(
      'a file name',
      (path) => typeof path === 'string' && path !== '' && !path.includes('\0') && path !== ':memory:',
    ),
  ),
  maxBytes: whole(1),
  after: duration(1, 600_000),
} satisfies Record<keyof SpoolOptions, Rule>)

export interface SpoolStatus {
  /** Deliveries that wait to be recorded. */
  readonly depth: number
  /** Includes deliveries that are set aside. */
  readonly bytes: number
  readonly maxBytes: number
  readonly oldestAt: number | null
  /** Deliveries that could not be recorded, each for itself. They are retried with growing waits, up to an hour. */
  readonly setAside: number
  /** True while deliveries go straight to the spool, because the store is unavailable. */
  readonly storeAway: boolean
  readonly draining: boolean
  readonly lastError: string | null
}

export interface Spool {
  status(): Promise<SpoolStatus>
  hasRoom(): Promise<boolean>
  /** Retries the deliveries that are set aside now. Resolves to their number. */
  retrySetAside(): Promise<number>
}

export interface OpenSpool extends Spool, BatchRecorder {
  /** Metrics read it. One or two seconds old at most. */
  counts(): { readonly depth: number; readonly setAside: number }
  start(): void
  /** The store could not be opened: deliveries go to the spool from now on. False when the error is not for the spool. */
  takeOver(error: unknown): boolean
  stop(deadlineMs: number): Promise<void>
}

/** `next` takes deliveries from the gate, `drainTo` those of the file. */
export interface SpoolDeps extends Omit<DrainDeps, 'file' | 'circuit'> {
  readonly next: LogRecorder
  readonly queueWaitMs?: number
}

export const DEFAULT_AFTER = '2s'
export const DEFAULT_SPOOL_BYTES = 256 * 1024 * 1024

export function openSpool(options: SpoolOptions, deps: SpoolDeps): OpenSpool {
  checkOptions('spool', options, spoolRule)
  const { path, maxBytes = DEFAULT_SPOOL_BYTES } = options

  const thread = spoolThread({ path: resolve(path), maxBytes })
  let counts = { depth: 0, setAside: 0 }
  const file: SpoolThread = {
    ...thread,
    async waiting() {
      const sources = await thread.waiting()
      const sum = (what: 'depth' | 'setAside') => sources.reduce((all, source) => all + source[what], 0)
      counts = { depth: sum('depth'), setAside: sum('setAside') }
      return sources
    },
    async remove(rows) {
      await thread.remove(rows)
      if (failed instanceof Error) failed = null
    },
  }
  const circuit = new Circuit(deps.log)
  /** As `wrote` was told. */
  let failed: number | HookonceError | null = null
  const canWrite = () => !(failed instanceof Error)
  const drain = new Drain({ ...deps, file, circuit })
  const record = spoolGate({
    ...deps,
    file,
    circuit,
    maxBytes,
    afterMs: msOf(options.after, DEFAULT_AFTER),
    spooled: () => drain.wake(),
    canWrite,
    wrote,
  })

  function wrote(result: number | HookonceError | null): void {
    if (result instanceof Error && canWrite())
      deps.log.error({ step: 'record', code: result.code }, result.message)
    failed = result
  }

  /** A test row shows whether the file can be written again. The next delivery may not come for long. */
  async function tryAgain(): Promise<boolean> {
    try {
      await file.probe()
      failed = null
      return true
    } catch {
      return false
    }
  }

  return {
    record,
    counts: () => counts,
    start: () => drain.start(),
    takeOver(error) {
      if (isForTheSpool(error)) circuit.trip(error)
      return isForTheSpool(error)
    },
    async status() {
      if (!canWrite()) await tryAgain()
      const { depth, bytes, setAside, oldestAt } = await file.totals()
      const writeError = failed instanceof Error ? failed.message : null
      const lastError = writeError ?? circuit.lastError ?? drain.problem
      const { storeAway } = circuit
      return { depth, bytes, maxBytes, oldestAt, setAside, storeAway, draining: drain.running, lastError }
    },
    async hasRoom() {
      const { bytes } = await file.totals()
      if (failed === null) return bytes < maxBytes
      if (typeof failed === 'number' && bytes + failed > maxBytes) return false
      return tryAgain()
    },
    async retrySetAside() {
      const count = await file.retryNow()
      drain.wake()
      return count
    },
    async stop(deadlineMs) {
      await drain.stop(deadlineMs)
      await thread.close().catch(() => {}) // the deliveries in the file are durable
    },
  }
}

// biome-ignore format: a list
const verbs = [
  'put', 'waiting', 'take', 'remove', 'isDue', 'takeDue', 'postpone', 'removeSetAside', 'retryNow', 'totals', 'lock',
  'unlock', 'probe', 'shrink', 'close',
] as const satisfies readonly SpoolVerb[]

/** The thread starts with the first call: an inbox that only reads its log needs no thread. */
function spoolThread(options: SpoolFileOptions): SpoolThread {
  let thread: CallingThread<Omit<SpoolCall, 'id'>> | undefined
  let closed = false
  async function call(verb: SpoolVerb, args: unknown): Promise<unknown> {
    if (verb === 'close' && (closed || !thread)) return
    if (closed) throw spoolFailed(options, 'it is closed')
    closed = verb === 'close'
    thread ??= startThread(options)
    return thread.call({ verb, args }, buffersOf(verb, args))
  }
  const methods = verbs.map((verb) => [verb, (args?: unknown) => call(verb, args)] as const)
  return Object.fromEntries(methods) as unknown as Pick<SpoolThread, (typeof verbs)[number]>
}

function startThread(options: SpoolFileOptions): CallingThread<Omit<SpoolCall, 'id'>> {
  return startCallingThread({
    name: 'hookonce-spool',
    source: threadSource,
    options,
    failed(error) {
      if (!isHookonceError(error)) return spoolFailed(options, error.name, error)
      if (error.code === 'SCHEMA_NEWER') return error
      // SQLite says "database or disk is full", and it is not the database of the log.
      if (error.code === 'STORE_FULL') return spoolFailed(options, 'its disk is full', error)
      return spoolFailed(options, String(error.details.problem ?? error.code), error)
    },
    unanswered: (_verb, problem) => spoolFailed(options, problem),
  })
}

function spoolFailed({ path }: SpoolFileOptions, problem: string, cause?: Error): HookonceError {
  return new HookonceError('SPOOL_FAILED', { path, problem }, cause)
}

/** Blocks are transferred to the thread, not copied. */
function buffersOf(verb: SpoolVerb, args: unknown): ArrayBuffer[] {
  return verb === 'put' ? (args as SpoolRow[]).map(({ block }) => block.buffer as ArrayBuffer) : []
}
