/**
 * The way into the spool. A batch goes to the store; deliveries that the store cannot take go to the spool. While a source
 * has deliveries there, its next ones are spooled behind them and keep their sequence. While the spool cannot be written,
 * deliveries go to the store first: out of sequence is better than refused.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, timeLimited } from '../clock.js'
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { NewDelivery } from '../model.js'
import type { LogRecorder, Recording } from '../recorder.js'
import { asRow } from './row.js'
import type { SpoolThread } from './spool-file.js'

type GateResult = Recording | HookonceError

export interface GateDeps {
  readonly file: SpoolThread
  readonly circuit: Circuit
  readonly clock: Clock
  readonly maxBytes: number
  /** A commit that takes longer is spooled as well. */
  readonly afterMs: number
  /** How long deliveries wait behind a short queue. Default 1 s. */
  readonly queueWaitMs?: number
  readonly next: LogRecorder
  spooled(): void
  /** False after a write to the file has failed, until one succeeds. */
  canWrite(): boolean
  /** Null: all deliveries were stored. Else the bytes of one that did not fit, or the error. */
  wrote(result: number | HookonceError | null): void
}

interface Item {
  readonly delivery: NewDelivery
  readonly index: number
}

/**
 * So few deliveries are drained in a moment, and new ones wait for that. Otherwise the spool of a busy source would never be
 * empty.
 */
const SHORT_QUEUE = 500
export const QUEUE_WAIT_MS = 1_000
const POLL_MS = 5
const LONG_QUEUE_WAIT_MS = 50

export function spoolGate(deps: GateDeps) {
  const { file, circuit, queueWaitMs = QUEUE_WAIT_MS } = deps
  /** Ends when the batch before has left its queue: a later batch must not overtake it. */
  let batchBefore: Promise<void> = Promise.resolve()

  return async function record(deliveries: readonly NewDelivery[]): Promise<GateResult[]> {
    const results: GateResult[] = []
    const items = deliveries.map((delivery, index) => ({ delivery, index }))
    if (!deps.canWrite()) {
      await directly(items, results)
      return results
    }
    const depths = circuit.storeAway ? null : await waiting()
    const behind = items.filter(({ delivery }) => depths === null || depths.has(delivery.source))
    const free = items.filter((item) => !behind.includes(item))
    await Promise.all([directly(free, results), inTurn(behind, results)])
    return results
  }

  async function waiting(): Promise<Map<string, number>> {
    const rows = await file.waiting().catch(() => []) // the store does not wait for a broken file
    return new Map(rows.flatMap(({ source, depth }) => (depth > 0 ? [[source, depth]] : [])))
  }

  async function directly(items: readonly Item[], results: GateResult[]): Promise<void> {
    if (items.length === 0) return
    try {
      await store(items, results)
    } catch (error) {
      if (!isForTheSpool(error)) throw error
      circuit.trip(error)
      const failed = await put(items, results)
      if (failed) fail(items, results, failed)
    }
  }

  async function store(items: readonly Item[], results: GateResult[]): Promise<void> {
    const recorded = deps.next.record(items.map(({ delivery }) => delivery))
    const verdicts = await timeLimited(recorded, deps.afterMs, () => tooLate(deps.afterMs))
    circuit.reset()
    for (const [i, { index }] of items.entries()) results[index] = verdicts[i]!
  }

  async function inTurn(items: readonly Item[], results: GateResult[]): Promise<void> {
    if (items.length === 0) return
    const before = batchBefore
    const placed = queue(items).then(async (place) => {
      await before
      // The batch before may have found that the store does not answer: this one has no time to find it out again.
      await (circuit.storeAway ? spool : place)(items, results)
    })
    batchBefore = placed.catch(() => {})
    return placed
  }

  /** Waits while the spool may soon be empty, and returns the way that the deliveries take then. */
  async function queue(items: readonly Item[]): Promise<typeof spool> {
    const until = performance.now() + queueWaitMs
    while (!circuit.storeAway && performance.now() < until) {
      const depths = await waiting()
      const ahead = Math.max(...items.map(({ delivery }) => depths.get(delivery.source) ?? 0))
      if (ahead === 0) return directly
      if (ahead > SHORT_QUEUE) {
        // The drain catches up while the senders wait for their answers.
        await sleep(LONG_QUEUE_WAIT_MS)
        break
      }
      deps.spooled()
      await sleep(POLL_MS)
    }
    return spool
  }

  async function spool(items: readonly Item[], results: GateResult[]): Promise<void> {
    const failed = await put(items, results)
    // The store may be back: what the file cannot take must not wait until the drain has found out.
    if (failed) await store(items, results).catch(() => fail(items, results, failed))
  }

  async function put(items: readonly Item[], results: GateResult[]): Promise<HookonceError | null> {
    const now = deps.clock.now()
    try {
      const rows = items.map(({ delivery }) => asRow(delivery, now))
      // Before the call, because it transfers the blocks to the thread and leaves them empty here.
      const sizes = rows.map(({ block }) => block.byteLength)
      const kept = await file.put(rows)
      for (const [i, { index }] of items.entries()) results[index] = kept[i] ? 'spooled' : full()
      const left = kept.indexOf(false)
      deps.wrote(left < 0 ? null : sizes[left]!)
      deps.spooled()
      return null
    } catch (error) {
      const failed = error instanceof HookonceError ? error : notWritten(error)
      deps.wrote(failed)
      return failed
    }
  }

  function fail(items: readonly Item[], results: GateResult[], error: HookonceError): void {
    for (const { index } of items) results[index] = error
  }

  function full(): HookonceError {
    return new HookonceError('SPOOL_FULL', { maxBytes: deps.maxBytes })
  }
}

function notWritten(error: unknown): HookonceError {
  const problem = `a delivery could not be written: ${error instanceof Error ? error.name : 'unknown'}`
  return new HookonceError('SPOOL_FAILED', { path: 'spool', problem })
}

/** If the commit succeeds later, the drained deliveries are duplicates. */
function tooLate(limitMs: number): HookonceError {
  return new HookonceError('STORE_UNAVAILABLE', { problem: `no commit within ${limitMs} ms` })
}

/**
 * Knows whether the store can be reached. While it cannot, deliveries go straight to the spool and do not wait for a
 * connection. The drain finds out when the store is back.
 */
export class Circuit {
  readonly #log: Logger
  /** Null when the last write to the store succeeded. */
  lastError: string | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  get storeAway(): boolean {
    return this.lastError !== null
  }

  trip(error: unknown): void {
    if (!this.storeAway)
      this.#log.warn({ step: 'record', code: codeOf(error) }, 'store away: deliveries go to the spool')
    this.lastError = error instanceof Error ? error.message : String(error)
  }

  reset(): void {
    if (this.storeAway) this.#log.warn({ step: 'record' }, 'store is back')
    this.lastError = null
  }
}

/** Errors of this process, not of the store: a spool would only hide them. */
const notForTheSpool: readonly ErrorCode[] = ['INVALID_INPUT', 'STORE_CLOSED', 'STORE_URL', 'DRIVER_MISSING']

/**
 * True for an outage, a store that is busy or full, a missing schema, and a commit with an unknown result: the unique key
 * makes the second record a duplicate.
 */
export function isForTheSpool(error: unknown): boolean {
  return isHookonceError(error) && !notForTheSpool.includes(error.code)
}
