/**
 * Measures how large the buffer should be. A claim of many events costs less for each of them. But events in a buffer are
 * missing elsewhere: other processes cannot take them, and each loses an attempt when the process dies. So the buffer holds
 * what the handlers finish in a small part of the lease.
 */
import type { ClaimedEvent } from '../model.js'

export const AHEAD_MS = 500
const AHEAD_PART_OF_LEASE = 1 / 20
const MAX_EVENTS = 500
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
/** Events are counted over at least this time. */
const WINDOW_MS = 100

export class BufferSize {
  readonly #aheadMs: number
  readonly #clock: () => number
  #since: number
  #count = 0
  #eventsPerMs = 0
  #maxEvents = 0

  constructor(leaseMs: number, clock: () => number = () => performance.now()) {
    this.#aheadMs = Math.min(AHEAD_MS, leaseMs * AHEAD_PART_OF_LEASE)
    this.#clock = clock
    this.#since = clock()
  }

  finished(): void {
    this.#count++
    const elapsedMs = this.#clock() - this.#since
    if (elapsedMs < WINDOW_MS) return
    this.#eventsPerMs = this.#count / elapsedMs
    this.#since += elapsedMs
    this.#count = 0
  }

  claimed(events: readonly ClaimedEvent[]): void {
    if (events.length === 0) return
    // After a crash the buffer stays small: one of these events may have caused it, and may do it again.
    this.#maxEvents = events.some(({ losses }) => losses > 0)
      ? 0
      : Math.min(MAX_EVENTS, MAX_PAYLOAD_BYTES / Math.max(1, bytesOf(events) / events.length))
  }

  /** `least`: the size while the rate is low or not known. */
  now(least: number): number {
    const elapsedMs = this.#clock() - this.#since
    const current =
      elapsedMs > 2 * WINDOW_MS ? Math.min(this.#eventsPerMs, this.#count / elapsedMs) : this.#eventsPerMs
    return Math.max(least, Math.floor(Math.min(this.#maxEvents, current * this.#aheadMs)))
  }
}

export function bytesOf(events: readonly ClaimedEvent[]): number {
  return events.reduce((sum, { body }) => sum + (body?.byteLength ?? 0), 0)
}
