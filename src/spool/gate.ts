/**
 * record, with a spool beside the store. A batch goes to the store; what the store cannot take goes to the spool; and
 * while a source has deliveries in the spool, its next ones line up behind them, so that its order stays.
 */
import { type Clock, timeLimited } from '../clock.js'
import { HookonceError } from '../errors.js'
import type { NewDelivery } from '../model.js'
import type { LogRecorder, Recording } from '../recorder.js'
import { type Circuit, isForTheSpool } from './circuit.js'
import { asRow, type Seal } from './row.js'
import type { SpoolLink } from './thread-link.js'

/** The result for one delivery: recorded, spooled, or failed. */
type GateResult = Recording | HookonceError

export interface GateDeps {
  readonly file: SpoolLink
  readonly circuit: Circuit
  readonly clock: Clock
  readonly seal: Seal | undefined
  readonly maxBytes: number
  /** How long a commit may take before its deliveries are spooled as well. */
  readonly afterMs: number
  readonly next: LogRecorder
  /** Something lies in the spool. */
  spooled(): void
  /** Each time the file was written to: the bytes of a delivery that could not be kept, or null when all were. */
  wrote(failed: number | null): void
}

interface Item {
  readonly delivery: NewDelivery
  readonly at: number
}

/**
 * So few are drained in a moment. Waiting for it is what ends the spooling: were every new delivery spooled behind the
 * last one, a busy source would never get past its spool.
 */
const TAIL = 500
const TAIL_WAIT_MS = 1_000
const LOOK_EVERY_MS = 5
const LONG_TAIL_MS = 50

export function spoolGate(deps: GateDeps) {
  const { file, circuit } = deps

  /** A recording per delivery, in order. */
  return async function record(deliveries: readonly NewDelivery[]): Promise<GateResult[]> {
    const results: GateResult[] = []
    const items = deliveries.map((delivery, at) => ({ delivery, at }))
    const depths = circuit.open ? null : await waiting()
    const behind = items.filter(({ delivery }) => depths === null || depths.has(delivery.source))
    const free = items.filter((item) => !behind.includes(item))
    await Promise.all([directly(free, results), inTurn(behind, results)])
    return results
  }

  /** If the file cannot be read nothing is known to wait; the store is not held up for it. */
  async function waiting(): Promise<Map<string, number>> {
    const rows = await file.waiting().catch(() => [])
    return new Map(rows.map(({ source, depth }) => [source, depth]))
  }

  async function directly(items: readonly Item[], results: GateResult[]): Promise<void> {
    if (items.length === 0) return
    try {
      const recorded = deps.next.record(items.map(({ delivery }) => delivery))
      const verdicts = await timeLimited(recorded, deps.afterMs, () => tooLate(deps.afterMs))
      for (const [i, { at }] of items.entries()) results[at] = verdicts[i]!
    } catch (error) {
      if (!isForTheSpool(error)) throw error
      circuit.trip(error)
      await spool(items, results)
    }
  }

  async function inTurn(items: readonly Item[], results: GateResult[]): Promise<void> {
    if (items.length === 0) return
    const until = performance.now() + TAIL_WAIT_MS
    while (!circuit.open && performance.now() < until) {
      const depths = await waiting()
      const ahead = Math.max(...items.map(({ delivery }) => depths.get(delivery.source) ?? 0))
      if (ahead === 0) return directly(items, results)
      if (ahead > TAIL) {
        // Not faster into the spool than out of it: senders that wait for their answer would keep it full for ever.
        await new Promise((resolve) => setTimeout(resolve, LONG_TAIL_MS))
        break
      }
      deps.spooled()
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
    return spool(items, results)
  }

  async function spool(items: readonly Item[], results: GateResult[]): Promise<void> {
    const now = deps.clock.now()
    try {
      const rows = await Promise.all(items.map(({ delivery }) => asRow(delivery, now, deps.seal)))
      const kept = await file.put(rows)
      for (const [i, { at }] of items.entries()) results[at] = kept[i] ? 'spooled' : full()
      const left = kept.indexOf(false)
      deps.wrote(left < 0 ? null : rows[left]!.block.byteLength)
      deps.spooled()
    } catch (error) {
      deps.wrote(0)
      const failed = error instanceof HookonceError ? error : notSealed(error)
      for (const { at } of items) results[at] = failed
    }
  }

  function full(): HookonceError {
    return new HookonceError('SPOOL_FULL', { maxBytes: deps.maxBytes })
  }
}

function notSealed(error: unknown): HookonceError {
  const problem = `a delivery could not be sealed: ${error instanceof Error ? error.name : 'unknown'}`
  return new HookonceError('SPOOL_FAILED', { path: 'spool', problem })
}

/** One that commits after all is no harm: its deliveries are in the spool, and drained as duplicates. */
function tooLate(limitMs: number): HookonceError {
  return new HookonceError('STORE_UNAVAILABLE', { problem: `no commit within ${limitMs} ms` })
}
