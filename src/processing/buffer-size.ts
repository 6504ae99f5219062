/**
 * The size of the buffer, from the rate at which the handlers finish events. A claim of many events costs less for each of
 * them, but events that wait in a buffer are missing elsewhere: other processes cannot take them, and each loses an attempt
 * when the process dies. So the buffer holds what the handlers finish in a small part of the lease.
 */
import type { ClaimedEvent } from '../model.js'

/** The time in which the handlers finish a full buffer. */
const AHEAD_MS = 500
/** The same, as a part of the lease. */
const LEASE_PART = 1 / 20
const MAX_EVENTS = 500
/** Of the payloads in the buffer. */
const MAX_BYTES = 16 * 1024 * 1024
/** The rate is measured over at least this time. */
const WINDOW_MS = 100

export interface BufferSize {
  /** An attempt has ended. */
  finished(): void
  claimed(events: readonly ClaimedEvent[]): void
  /** `least`: the size while the rate is low or not known. */
  now(least: number): number
}

export function createBufferSize(leaseMs: number, clock: () => number = () => performance.now()): BufferSize {
  const aheadMs = Math.min(AHEAD_MS, leaseMs * LEASE_PART)
  let since = clock()
  let count = 0
  /** Events per millisecond, in the last window. */
  let rate = 0
  let maxEvents = 0

  return {
    finished() {
      count++
      const elapsedMs = clock() - since
      if (elapsedMs < WINDOW_MS) return
      rate = count / elapsedMs
      since += elapsedMs
      count = 0
    },
    claimed(events) {
      if (events.length === 0) return
      const bytes = events.reduce((sum, { body }) => sum + (body?.byteLength ?? 0), 0)
      // After a crash the buffer stays small: one of these events may have caused it, and may do it again.
      maxEvents = events.some(({ losses }) => losses > 0)
        ? 0
        : Math.min(MAX_EVENTS, MAX_BYTES / Math.max(1, bytes / events.length))
    },
    now(least) {
      const elapsedMs = clock() - since
      // Handlers that have stopped finishing events get no more of them.
      const current = elapsedMs > 2 * WINDOW_MS ? Math.min(rate, count / elapsedMs) : rate
      return Math.max(least, Math.floor(Math.min(maxEvents, current * aheadMs)))
    },
  }
}
