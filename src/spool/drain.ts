/**
 * The way out of the spool: the oldest deliveries are recorded in batches, and then removed from the file. If the process
 * dies in between, they are duplicates the next time. One process drains at a time; the others check once a second
 * whether they must take over.
 */
import { atMost, type Clock } from '../clock.js'
import { codeOf, HookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import type { LogRecorder } from '../recorder.js'
import type { Circuit } from './gate.js'
import { asDelivery, type Seal } from './row.js'
import type { RefusedRow, SpoolThread } from './spool-file.js'

export interface DrainDeps {
  readonly file: SpoolThread
  readonly circuit: Circuit
  readonly clock: Clock
  readonly log: Logger
  readonly seal: Seal | undefined
  readonly drainTo: LogRecorder
  /** Asks the store whether a delivery could be recorded now. */
  probe(): Promise<unknown>
  /** Called when deliveries were recorded and have left the spool. */
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

export function createDrain(deps: DrainDeps): Drain {
  const { file, circuit, log } = deps
  let running = false
  let started = false
  let stopped = false
  let failures = 0
  let problem: string | null = null
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | null = null

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
          log.error({ step: 'record', code: codeOf(error) }, 'spool not drained; trying again')
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
    const waiting = await file.waiting().catch(async (error: unknown) => {
      // A broken spool must not keep deliveries from a store that is back.
      if (circuit.open) await reachable()
      throw error
    })
    if (waiting.length === 0 || !(await file.lock())) return !circuit.open || reachable()
    running = true
    try {
      return await drainAll()
    } finally {
      running = false
      await file.unlock()
    }
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

  async function drainAll(): Promise<boolean> {
    while (!stopped) {
      // After an outage the first delivery is sent alone, to find out whether the store is back.
      const rows = await file.take({ limit: circuit.open ? 1 : BATCH, maxBytes: BATCH_BYTES })
      if (rows.length === 0) {
        await file.shrink()
        return true
      }
      const deliveries = await Promise.all(rows.map((row) => asDelivery(row, deps.seal).catch(unreadable)))
      let verdicts: RecordVerdict[][]
      try {
        verdicts = await deps.drainTo.record(deliveries)
      } catch (error) {
        circuit.trip(error)
        return false
      }
      circuit.reset()
      const refused = rows.flatMap(({ id }, i) => refusalOf(id, verdicts[i]!))
      const setAside = new Set(refused.map(({ id }) => id))
      const done = rows.flatMap(({ id }) => (setAside.has(id) ? [] : [id]))
      await file.remove({ done, refused, now: deps.clock.now() })
      for (const { code } of refused)
        log.error({ step: 'record', code }, 'the store refused a spooled delivery: kept aside in the spool')
      deps.drained(deliveries, verdicts)
    }
    return true
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

/** A store refuses a delivery as a whole, so the verdict of its first event is enough. */
function refusalOf(id: number, verdicts: readonly RecordVerdict[]): RefusedRow[] {
  const [verdict] = verdicts
  return verdict?.status === 'refused' ? [{ id, code: verdict.code, detail: verdict.detail }] : []
}

/**
 * A delivery that cannot be read stays in the spool and blocks the next ones: its key may be missing for a short time
 * only.
 */
function unreadable(error: unknown): never {
  const problem = `a delivery in it cannot be read (${error instanceof Error ? error.message : 'unknown'})`
  throw new HookonceError('SPOOL_FAILED', { path: 'spool', problem })
}
