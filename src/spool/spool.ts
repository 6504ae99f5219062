/**
 * The spool: a local file that takes verified deliveries while the store cannot be reached, and gives them to the log
 * when it can. `gate.ts` is the way in, `drain.ts` the way out.
 */
import { resolve } from 'node:path'
import type { Clock } from '../clock.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import { checkOptions, isObject, type Rule, required, rule, shape, whole } from '../options.js'
import type { BatchRecorder, LogRecorder } from '../recorder.js'
import { createCircuit, isForTheSpool } from './circuit.js'
import { createDrain } from './drain.js'
import { spoolGate } from './gate.js'
import type { Seal } from './row.js'
import { type SpoolLink, startSpoolThread } from './thread-link.js'

export interface SpoolOptions {
  /** The file. Processes of one host may share it. */
  readonly path: string
  /** Bytes it may hold, those kept aside included; beyond it senders get 503. Default 256 MiB. */
  readonly maxBytes?: number
  /** A commit that takes longer is not waited for: its deliveries are spooled as well. Default 2,000; at most half of `limits.recordMs`. */
  readonly afterMs?: number
  /** Encrypts what lies in the file, where payloads are encrypted. */
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
  /** Of those and of the refused ones. */
  readonly bytes: number
  readonly maxBytes: number
  readonly oldestAt: number | null
  /** Deliveries that the store refused when they were drained; they stay until `retryRefused`. */
  readonly refused: number
  /** True while deliveries go straight to the spool, because the store could not be reached. */
  readonly storeAway: boolean
  /** True while this process drains. */
  readonly draining: boolean
  readonly lastError: string | null
}

export interface Spool {
  status(): Promise<SpoolStatus>
  /** Whether the next delivery would find room: it is not full, and its file can be written to. */
  hasRoom(): Promise<boolean>
  /** Puts what the store refused back in line, for when the reason is gone. Says how many. */
  retryRefused(): Promise<number>
}

export interface OpenSpool extends Spool, BatchRecorder {
  /** How many waited when this process last looked, at most a second or two ago: for metrics, without a wait. */
  depth(): number
  /** Starts to drain what is there from before. Once is enough; more does no harm. */
  start(): void
  /** Whether deliveries can be taken in spite of this failure to open the store; if so, they go to the spool now. */
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

  let started: SpoolLink | undefined
  /** The thread begins with the first use: an inbox that is only asked about its log needs none. */
  const link = () => {
    started ??= startSpoolThread({ path: resolve(path), maxBytes })
    return started
  }
  let depth = 0
  const file: SpoolLink = {
    ...lazily(link),
    async waiting() {
      const waiting = await link().waiting()
      depth = waiting.reduce((sum, one) => sum + one.depth, 0)
      return waiting
    },
  }
  const circuit = createCircuit(deps.log)
  /** The bytes of a delivery that could not be kept; null once one could. */
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
      // A full disk can be read: only writing shows it. Until a delivery is kept again, something else is written.
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
      await started?.close().catch(() => {}) // what is in the file is in the file
    },
  }
}

function lazily(link: () => SpoolLink): SpoolLink {
  return {
    put: (rows) => link().put(rows),
    waiting: () => link().waiting(),
    take: (how) => link().take(how),
    remove: (what) => link().remove(what),
    restore: () => link().restore(),
    totals: () => link().totals(),
    lock: () => link().lock(),
    unlock: () => link().unlock(),
    probe: () => link().probe(),
    shrink: () => link().shrink(),
    close: () => link().close(),
  }
}
