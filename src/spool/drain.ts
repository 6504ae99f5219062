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
import type { SpoolThread } from './spool-file.js'

export interface DrainDeps extends RecordRowsDeps {
  readonly file: SpoolThread
  readonly circuit: Circuit
  readonly log: Logger
  /** Called when deliveries were recorded. */
  drained(deliveries: readonly NewDelivery[], verdicts: readonly RecordVerdict[][]): void
}

export interface Drain {
  readonly running: boolean
  /** Why the last round failed, when the reason was not the store; else null. */
  readonly problem: string | null
  start(): void
  wake(): void
  /**
   * Waits for the round under way, at most `deadlineMs`. Deliveries that it recorded and did not remove are duplicates
   * later.
   */
  stop(deadlineMs: number): Promise<void>
}

const BATCH = 256
const BATCH_BYTES = 4 * 1024 * 1024
const IDLE_MS = 1_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2_000
/** Between them, new deliveries in the spool have their turn. */
const RETRIES_A_TURN = 100
const NOTHING: RowsResult = { recorded: [], failed: [], storeError: null }

export function createDrain(deps: DrainDeps): Drain {
  const { file, circuit, log } = deps
  let running = false
  let started = false
  let stopped = false
  let failures = 0
  let problem: string | null = null
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | null = null
  /**
   * Rows up to an id that have their outcome, and that the file could not remove: its disk is full. The rows behind them
   * are recorded all the same.
   */
  let unremoved: { readonly done: number[]; readonly setAside: FailedRow[]; readonly upTo: number } = {
    done: [],
    setAside: [],
    upTo: 0,
  }
  const recordRows = rowRecorder(deps)

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (stopped || round) return
    timer = setTimeout(run, ms)
    timer.unref()
  }

  function run(): void {
    round ??= turn()
      .then(
        (isDone) => {
          problem = null
          if (!isDone) return retryMs()
          failures = 0
          return IDLE_MS
        },
        (error: unknown) => {
          problem = error instanceof Error ? error.message : 'unexpected'
          log.error({ step: 'record', code: codeOf(error) }, `spool not drained, trying again: ${problem}`)
          return retryMs()
        },
      )
      .then((ms) => {
        round = null
        schedule(ms)
      })
  }

  /** With jitter, so that processes that lost the store at the same time do not all return at the same time. */
  function retryMs(): number {
    return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++) * (0.75 + Math.random() / 2)
  }

  /** True when nothing is left for this process to do. */
  async function turn(): Promise<boolean> {
    try {
      if (!(await hasWork()) || !(await file.lock())) return !circuit.open || (await reachable())
      running = true
      try {
        return (await drainWaiting()) && (await retrySetAside())
      } finally {
        running = false
        await file.unlock()
      }
    } catch (error) {
      // A broken spool must not keep deliveries from a store that is back.
      if (circuit.open) await reachable()
      throw error
    }
  }

  async function hasWork(): Promise<boolean> {
    const sources = await file.waiting()
    if (sources.some(({ depth }) => depth > 0)) return true
    return sources.some(({ setAside }) => setAside > 0) && file.isDue({ now: deps.clock.now() })
  }

  async function reachable(): Promise<boolean> {
    try {
      await deps.probe()
      circuit.reset()
    } catch (error) {
      circuit.trip(error)
    }
    return !circuit.open
  }

  async function drainWaiting(): Promise<boolean> {
    while (!stopped) {
      // After an outage the first delivery is sent alone, to find out whether the store is back.
      const limit = circuit.open ? 1 : BATCH
      const rows = await file.take({ after: unremoved.upTo, limit, maxBytes: BATCH_BYTES })
      if (rows.length === 0) break
      const result = await recordRows(rows)
      await remove(result, rows.at(-1)!.id).catch(() => {}) // tried again below
      tell(result)
      if (!answered(result)) return false
    }
    await remove(NOTHING, unremoved.upTo)
    if (!stopped) await file.shrink()
    return true
  }

  async function remove({ recorded, failed, storeError }: RowsResult, upTo: number): Promise<void> {
    const done = [...unremoved.done, ...recorded.map(({ id }) => id)]
    const setAside = [...unremoved.setAside, ...failed]
    if (done.length + setAside.length === 0) return
    unremoved = { done, setAside, upTo: storeError === null ? upTo : unremoved.upTo }
    await file.remove({ done, setAside, now: deps.clock.now() })
    unremoved = { done: [], setAside: [], upTo: 0 }
  }

  /** One at a time: each of them has failed before. */
  async function retrySetAside(): Promise<boolean> {
    for (let i = 0; i < RETRIES_A_TURN && !stopped; i++) {
      const now = deps.clock.now()
      const row = await file.takeDue({ now })
      if (row === null) break
      const result = await recordRows([row])
      if (result.recorded.length > 0) await file.removeSetAside({ id: row.id })
      for (const failed of result.failed) await file.postpone({ ...failed, now })
      tell(result)
      if (!answered(result)) return false
    }
    return true
  }

  /** False when the store is unavailable. */
  function answered({ storeError }: RowsResult): boolean {
    if (storeError === null) circuit.reset()
    else circuit.trip(storeError)
    return storeError === null
  }

  function tell({ recorded, failed }: RowsResult): void {
    for (const { source, code, detail } of failed)
      log.error(
        { source, step: 'record', code },
        `a spooled delivery is set aside and retried later: ${detail}`,
      )
    if (recorded.length === 0) return
    deps.drained(
      recorded.map(({ delivery }) => delivery),
      recorded.map(({ verdicts }) => verdicts),
    )
  }

  return {
    get running() {
      return running
    },
    get problem() {
      return problem
    },
    start() {
      if (started) return
      started = true
      schedule(0)
    },
    wake() {
      // While the store is away a retry is scheduled, and waking with each delivery would postpone it again and again.
      if (started && !circuit.open) schedule(0)
    },
    async stop(deadlineMs) {
      stopped = true
      clearTimeout(timer)
      await atMost(deadlineMs, round)
    },
  }
}
