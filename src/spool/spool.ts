/**
 * The spool: a local file that takes verified deliveries while the store is unavailable. They are recorded when the store
 * is back. `gate.ts` is the way in, `drain.ts` the way out.
 */
import { resolve } from 'node:path'
import type { TransferListItem } from 'node:worker_threads'
import type { Clock } from '../clock.js'
import { HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import { checkOptions, isObject, type Rule, required, rule, shape, whole } from '../options.js'
import type { BatchRecorder, LogRecorder } from '../recorder.js'
import { type CallingThread, startCallingThread } from '../stores/sqlite/thread-calls.js'
import { createDrain } from './drain.js'
import { createCircuit, isForTheSpool, spoolGate } from './gate.js'
import type { Seal, SpoolRow } from './row.js'
import type { SpoolCall, SpoolFileOptions, SpoolThread, SpoolVerb } from './spool-file.js'
import { threadSource } from './thread-source.js'

export interface SpoolOptions {
  /** The file. Processes on one host may share it. */
  readonly path: string
  /** Maximum size, including refused deliveries. When it is full, senders get 503. Default 256 MiB. */
  readonly maxBytes?: number
  /**
   * Time limit of a commit; after it, its deliveries are spooled as well. Default 2,000; at most half of
   * `limits.recordMs`.
   */
  readonly afterMs?: number
  /** Encrypts the deliveries in the file. */
  readonly seal?: Seal
}

export const spoolRule = shape({
  path: required(
    rule(
      'a file name',
      (path) => typeof path === 'string' && path !== '' && !path.includes('\0') && path !== ':memory:',
    ),
  ),
  maxBytes: whole(1),
  afterMs: whole(1, 600_000),
  seal: rule('an object that encrypts and decrypts', isObject),
} satisfies Record<keyof SpoolOptions, Rule>)

export interface SpoolStatus {
  /** Deliveries that wait to be recorded. */
  readonly depth: number
  /** Of the waiting and the refused deliveries. */
  readonly bytes: number
  readonly maxBytes: number
  readonly oldestAt: number | null
  /** Deliveries that the store has refused. They stay until `retryRefused`. */
  readonly refused: number
  /** True while deliveries go straight to the spool, because the store is unavailable. */
  readonly storeAway: boolean
  /** True while this process drains. */
  readonly draining: boolean
  readonly lastError: string | null
}

export interface Spool {
  status(): Promise<SpoolStatus>
  /** True when the spool is not full and its file can be written. */
  hasRoom(): Promise<boolean>
  /** Tries refused deliveries again, after their problem was solved. Resolves to their number. */
  retryRefused(): Promise<number>
}

export interface OpenSpool extends Spool, BatchRecorder {
  /** Waiting deliveries when this process last looked, one or two seconds ago at most. For metrics. */
  depth(): number
  /** Starts to drain. Further calls have no effect. */
  start(): void
  /** True when deliveries can be spooled although the store could not be opened. They go to the spool from now on. */
  covers(error: unknown): boolean
  stop(deadlineMs: number): Promise<void>
}

export interface SpoolDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Records deliveries that were not spooled. */
  readonly next: LogRecorder
  /** Records deliveries out of the spool. */
  readonly drainTo: LogRecorder
  /** Asks the store whether a delivery could be recorded now. */
  probe(): Promise<unknown>
  /** Called when deliveries were recorded and have left the spool. */
  drained(deliveries: readonly NewDelivery[], verdicts: readonly RecordVerdict[][]): void
}

export const DEFAULT_AFTER_MS = 2_000
export const DEFAULT_SPOOL_BYTES = 256 * 1024 * 1024

export function openSpool(options: SpoolOptions, deps: SpoolDeps): OpenSpool {
  checkOptions('spool', options, spoolRule)
  const { path, maxBytes = DEFAULT_SPOOL_BYTES, afterMs = DEFAULT_AFTER_MS, seal } = options

  const thread = spoolThread({ path: resolve(path), maxBytes })
  let depth = 0
  const file: SpoolThread = {
    ...thread,
    async waiting() {
      const waiting = await thread.waiting()
      depth = waiting.reduce((sum, source) => sum + source.depth, 0)
      return waiting
    },
  }
  const circuit = createCircuit(deps.log)
  /** The bytes of a delivery that could not be stored; null after the next one that could. */
  let failed: number | null = null
  const drain = createDrain({ ...deps, file, circuit, seal })
  const record = spoolGate({ ...deps, file, circuit, seal, maxBytes, afterMs, spooled: drain.wake, wrote })

  function wrote(bytes: number | null): void {
    failed = bytes
  }

  return {
    record,
    depth: () => depth,
    start: drain.start,
    covers(error) {
      if (isForTheSpool(error)) circuit.trip(error)
      return isForTheSpool(error)
    },
    async status() {
      const { depth, bytes, refused, oldestAt } = await file.totals()
      const lastError = circuit.lastError ?? drain.problem
      const { open: storeAway } = circuit
      return { depth, bytes, maxBytes, oldestAt, refused, storeAway, draining: drain.running, lastError }
    },
    async hasRoom() {
      const { bytes } = await file.totals()
      if (failed === null) return bytes < maxBytes
      if (bytes + failed > maxBytes) return false
      // Only a write shows that the disk is full. Until a delivery is stored again, a test row is written.
      return file.probe().then(
        () => true,
        () => false,
      )
    },
    async retryRefused() {
      const count = await file.restore()
      drain.wake()
      return count
    },
    async stop(deadlineMs) {
      await drain.stop(deadlineMs)
      await thread.close().catch(() => {}) // the deliveries in the file are durable
    },
  }
}

type Call = (verb: SpoolVerb, args?: unknown) => Promise<unknown>

/** The thread starts with the first call: an inbox that only reads its log needs no thread. */
function spoolThread(options: SpoolFileOptions): SpoolThread {
  let thread: Call | undefined
  const call: Call = (verb, args) => {
    if (!thread && verb === 'close') return Promise.resolve()
    thread ??= startThread(options)
    return thread(verb, args)
  }
  const methods: Record<SpoolVerb, (args?: unknown) => Promise<unknown>> = {
    put: (rows) => call('put', rows),
    waiting: () => call('waiting'),
    take: (limits) => call('take', limits),
    remove: (rows) => call('remove', rows),
    restore: () => call('restore'),
    totals: () => call('totals'),
    lock: () => call('lock'),
    unlock: () => call('unlock'),
    probe: () => call('probe'),
    shrink: () => call('shrink'),
    close: () => call('close'),
  }
  return methods as SpoolThread
}

function startThread(options: SpoolFileOptions): Call {
  const { path } = options
  const spoolFailed = (problem: string, cause?: Error) =>
    new HookonceError('SPOOL_FAILED', { path, problem }, cause)
  const thread: CallingThread<SpoolCall> = startCallingThread({
    program: { starter: import.meta.url, source: threadSource },
    name: 'hookonce-spool',
    options,
    failed(error) {
      if (!isHookonceError(error)) return spoolFailed(error.name, error)
      return error.code === 'SCHEMA_NEWER'
        ? error
        : spoolFailed(String(error.details.problem ?? error.code), error)
    },
    unanswered: (_verb, problem) => spoolFailed(problem),
  })
  let closed = false

  return (verb, args) =>
    new Promise((resolve, reject) => {
      if (closed && verb === 'close') return resolve(undefined)
      const problem = closed ? 'it is closed' : thread.death
      if (problem !== null) return reject(spoolFailed(problem))
      closed = verb === 'close'
      thread.send({ id: thread.nextId(), verb, args }, buffersOf(verb, args), resolve, reject)
    })
}

/** Blocks are transferred to the thread, not copied. */
function buffersOf(verb: SpoolVerb, args: unknown): TransferListItem[] {
  return verb === 'put' ? (args as SpoolRow[]).map(({ block }) => block.buffer as ArrayBuffer) : []
}
