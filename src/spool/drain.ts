/**
 * The way out of the spool: the oldest deliveries are recorded in batches, and then removed from the file. If the process
 * dies in between, they are duplicates the next time. One process drains at a time; the others check once a second
 * whether they must take over.
 */
import { atMost } from '../clock.js'
import { codeOf } from '../errors.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import type { Circuit } from './gate.js'
import { type FailedRow, type RecordRowsDeps, type RowsResult, rowRecorder } from './record-rows.js'
import type { SpoolThread, StoredRow } from './spool-file.js'

export interface DrainDeps extends RecordRowsDeps {
  readonly file: SpoolThread
  readonly circuit: Circuit
  readonly log: Logger
  drained(deliveries: readonly NewDelivery[], verdicts: readonly RecordVerdict[][]): void
}

const BATCH = 256
const BATCH_BYTES = 4 * 1024 * 1024
const IDLE_MS = 1_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2_000
/** New deliveries in the spool have their turn after this many. */
const RETRIES_A_TURN = 100
const NOTHING: RowsResult = { recorded: [], failed: [], storeError: null }

/** Rows up to an id that have their outcome and that the file could not remove. */
interface Unremoved {
  readonly done: number[]
  readonly setAside: FailedRow[]
  readonly upTo: number
}

const NOTHING_LEFT: Unremoved = { done: [], setAside: [], upTo: 0 }

/** Turns follow each other by a timer: at once after `wake`, after a second without work, later after a failure. */
export class Drain {
  readonly #deps: DrainDeps
  readonly #recordRows: (rows: readonly StoredRow[]) => Promise<RowsResult>
  #state: 'idle' | 'started' | 'stopped' = 'idle'
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | null = null
  #failures = 0
  running = false
  /** Why the last turn failed, when the reason was not the store; else null. */
  problem: string | null = null
  /** Not empty while the disk of the file is full. The rows behind them are recorded all the same. */
  #unremoved = NOTHING_LEFT

  constructor(deps: DrainDeps) {
    this.#deps = deps
    this.#recordRows = rowRecorder(deps)
  }

  start(): void {
    if (this.#state !== 'idle') return
    this.#state = 'started'
    this.#schedule(0)
  }

  /** While the store is away a retry is scheduled, which each delivery would postpone again. */
  wake(): void {
    if (this.#state === 'started' && !this.#deps.circuit.storeAway) this.#schedule(0)
  }

  /** Waits for the turn under way. Deliveries that it did not remove in time are duplicates later. */
  async stop(deadlineMs: number): Promise<void> {
    this.#state = 'stopped'
    clearTimeout(this.#timer)
    await atMost(deadlineMs, this.#turn)
  }

  get #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped || this.#turn) return
    this.#timer = setTimeout(() => {
      this.#turn = this.#takeTurn()
    }, ms).unref()
  }

  async #takeTurn(): Promise<void> {
    let isDone = false
    try {
      isDone = await this.#drain()
      this.problem = null
    } catch (error) {
      this.problem = error instanceof Error ? error.message : 'unexpected'
      this.#deps.log.error(
        { step: 'record', code: codeOf(error) },
        `spool not drained, trying again: ${this.problem}`,
      )
    }
    this.#turn = null
    if (isDone) this.#failures = 0
    this.#schedule(isDone ? IDLE_MS : this.#retryMs())
  }

  /** The jitter keeps processes that lost the store together from returning together. */
  #retryMs(): number {
    return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++) * (0.75 + Math.random() / 2)
  }

  /** True when nothing is left for this process to do. */
  async #drain(): Promise<boolean> {
    const { file, circuit } = this.#deps
    try {
      if (!(await this.#hasWork()) || !(await file.lock())) return !circuit.storeAway || (await this.#probe())
      this.running = true
      try {
        return (await this.#drainWaiting()) && (await this.#retrySetAside())
      } finally {
        this.running = false
        await file.unlock()
      }
    } catch (error) {
      // A broken spool must not keep deliveries from a store that is back.
      if (circuit.storeAway) await this.#probe()
      throw error
    }
  }

  async #hasWork(): Promise<boolean> {
    const { file, clock } = this.#deps
    const sources = await file.waiting()
    if (sources.some(({ depth }) => depth > 0)) return true
    return sources.some(({ setAside }) => setAside > 0) && file.isDue({ now: clock.now() })
  }

  async #probe(): Promise<boolean> {
    const { circuit, probe } = this.#deps
    try {
      await probe()
      circuit.reset()
    } catch (error) {
      circuit.trip(error)
    }
    return !circuit.storeAway
  }

  async #drainWaiting(): Promise<boolean> {
    const { file, circuit } = this.#deps
    while (!this.#isStopped) {
      // After an outage the first delivery is sent alone, to find out whether the store is back.
      const limit = circuit.storeAway ? 1 : BATCH
      const rows = await file.take({ after: this.#unremoved.upTo, limit, maxBytes: BATCH_BYTES })
      if (rows.length === 0) break
      const result = await this.#recordRows(rows)
      await this.#remove(result, rows.at(-1)!.id).catch(() => {}) // tried again below
      if (!this.#ended(result)) return false
    }
    await this.#remove(NOTHING, this.#unremoved.upTo)
    if (!this.#isStopped) await file.shrink()
    return true
  }

  async #remove({ recorded, failed, storeError }: RowsResult, upTo: number): Promise<void> {
    const { file, clock } = this.#deps
    const done = [...this.#unremoved.done, ...recorded.map(({ id }) => id)]
    const setAside = [...this.#unremoved.setAside, ...failed]
    if (done.length + setAside.length === 0) return
    this.#unremoved = { done, setAside, upTo: storeError === null ? upTo : this.#unremoved.upTo }
    await file.remove({ done, setAside, now: clock.now() })
    this.#unremoved = NOTHING_LEFT
  }

  async #retrySetAside(): Promise<boolean> {
    const { file, clock } = this.#deps
    for (let i = 0; i < RETRIES_A_TURN && !this.#isStopped; i++) {
      const now = clock.now()
      const row = await file.takeDue({ now })
      if (row === null) break
      const result = await this.#recordRows([row])
      if (result.recorded.length > 0) await file.removeSetAside({ id: row.id })
      for (const failed of result.failed) await file.postpone({ ...failed, now })
      if (!this.#ended(result)) return false
    }
    return true
  }

  #ended({ recorded, failed, storeError }: RowsResult): boolean {
    const { log, circuit, drained } = this.#deps
    for (const { source, code, detail } of failed)
      log.error(
        { source, step: 'record', code },
        `a spooled delivery is set aside and retried later: ${detail}`,
      )
    if (recorded.length > 0)
      drained(
        recorded.map(({ delivery }) => delivery),
        recorded.map(({ verdicts }) => verdicts),
      )
    if (storeError === null) circuit.reset()
    else circuit.trip(storeError)
    return storeError === null
  }
}
