/**
 * record, with a spool beside the store. A batch goes to the store; what the store cannot take goes to the spool; and
 * while a source has deliveries in the spool, its next ones line up behind them, so that its order stays.
 */
import { type Clock, timeLimited } from '../clock.js'
import { HookonceError } from '../errors.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import { type Circuit, isForTheSpool } from './circuit.js'
import { asRow, type Seal } from './row.js'
import type { SpoolLink } from './thread-link.js'

/** What became of one delivery: in the log, in the spool, or in neither. */
export type Recording = RecordVerdict[] | 'spooled' | HookonceError

export interface GateParts {
  readonly file: SpoolLink
  readonly circuit: Circuit
  readonly clock: Clock
  readonly seal: Seal | undefined
  readonly maxBytes: number
  /** How long a commit may take before its deliveries are spooled as well. */
  readonly afterMs: number
  record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]>
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

export function spoolGate(parts: GateParts) {
  const { file, circuit } = parts

  /** A recording per delivery, in order. */
  return async function record(deliveries: readonly NewDelivery[]): Promise<Recording[]> {
    const results: Recording[] = []
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

  async function directly(items: readonly Item[], results: Recording[]): Promise<void> {
    if (items.length === 0) return
    try {
      const recorded = parts.record(items.map(({ delivery }) => delivery))
      const verdicts = await timeLimited(recorded, parts.afterMs, () => tooLate(parts.afterMs))
      for (const [i, { at }] of items.entries()) results[at] = verdicts[i]!
    } catch (error) {
      if (!isForTheSpool(error)) throw error
      circuit.trip(error)
      await spool(items, results)
    }
  }

  async function inTurn(items: readonly Item[], results: Recording[]): Promise<void> {
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
      parts.spooled()
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
    return spool(items, results)
  }

  async function spool(items: readonly Item[], results: Recording[]): Promise<void> {
    const now = parts.clock.now()
    try {
      const rows = await Promise.all(items.map(({ delivery }) => asRow(delivery, now, parts.seal)))
      const kept = await file.put(rows)
      for (const [i, { at }] of items.entries()) results[at] = kept[i] ? 'spooled' : full()
      const left = kept.indexOf(false)
      parts.wrote(left < 0 ? null : rows[left]!.block.byteLength)
      parts.spooled()
    } catch (error) {
      parts.wrote(0)
      const failed = error instanceof HookonceError ? error : notSealed(error)
      for (const { at } of items) results[at] = failed
    }
  }

  function full(): HookonceError {
    return new HookonceError('SPOOL_FULL', { maxBytes: parts.maxBytes })
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
