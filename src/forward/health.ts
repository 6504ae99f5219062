/**
 * Decides when a destination may be tried. After enough failures in a row over enough time its circuit is open: its events
 * are postponed and use up no attempts. From time to time one event is sent as a probe, and the first success closes the
 * circuit. A rate limit spreads the requests, and turns spread the events that find a destination busy. Each process
 * keeps its own state; pauses of operators are in the log.
 */
export interface HealthOptions {
  readonly pauseAfter: { readonly failures: number; readonly lastingMs: number } | null
  readonly probeEveryMs: number
  readonly onChange?: (isOpen: boolean) => void
  readonly random?: () => number
}

const MAX_PROBE_MS = 15 * 60_000
/** Waiting events are tried at least this often: another process may have found the endpoint well. */
const MAX_WAIT_MS = 5 * 60_000

export class Health {
  /** Null while the circuit is closed. */
  open: { readonly at: number; readonly nextProbeAt: number } | null = null
  failuresInARow = 0
  #firstFailureAt = 0
  /** The endpoint asked for no requests until then. */
  #quietUntil = 0
  #isProbing = false
  #probeMs: number
  readonly #options: HealthOptions

  constructor(options: HealthOptions) {
    this.#options = options
    this.#probeMs = options.probeEveryMs
  }

  /** Null: call `begin` and send now. */
  waitMs(now: number): number | null {
    if (!this.open) return this.#quietUntil > now ? this.#spread(this.#quietUntil - now) : null
    const { probeEveryMs } = this.#options
    const { nextProbeAt } = this.open
    if (nextProbeAt <= now && !this.#isProbing) return null
    const leastMs = Math.min(probeEveryMs, 1_000)
    return this.#spread(Math.min(Math.max(nextProbeAt - now, leastMs), MAX_WAIT_MS))
  }

  /** True when the request is a probe. */
  begin(): boolean {
    this.#isProbing ||= this.open !== null
    return this.open !== null
  }

  succeeded(): void {
    this.#isProbing = false
    this.failuresInARow = 0
    if (this.open) this.close()
  }

  failed(now: number, probe: boolean): void {
    this.failuresInARow++
    if (this.failuresInARow === 1) this.#firstFailureAt = now
    const { pauseAfter } = this.#options
    if (probe) {
      this.#isProbing = false
      this.#probeMs = Math.min(MAX_PROBE_MS, this.#probeMs * 2)
      if (this.open) this.open = { ...this.open, nextProbeAt: now + this.#probeMs }
    } else if (
      !this.open &&
      pauseAfter &&
      this.failuresInARow >= pauseAfter.failures &&
      now - this.#firstFailureAt >= pauseAfter.lastingMs
    ) {
      this.#open(now)
    }
  }

  /** The request was not made, or was aborted here. */
  abandoned(probe: boolean): void {
    if (probe) this.#isProbing = false
  }

  /** A Retry-After of the endpoint. */
  quietUntil(at: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, at)
  }

  /** The endpoint is tried at once. */
  close(): void {
    const wasOpen = this.open !== null
    this.open = null
    this.failuresInARow = 0
    this.#quietUntil = 0
    if (wasOpen) this.#options.onChange?.(false)
  }

  #open(now: number): void {
    this.#probeMs = this.#options.probeEveryMs
    this.open = { at: now, nextProbeAt: now + this.#probeMs }
    this.#options.onChange?.(true)
  }

  /** Adds up to half of the time at random: waiting events must not all be tried at once. */
  #spread(ms: number): number {
    const { random = Math.random } = this.#options
    return Math.ceil(ms * (1 + random() / 2))
  }
}

/** No event waits longer for its turn: the limit may change, or the process restart. */
const MAX_TURN_MS = 60_000

class Turns {
  #lastAt = 0

  /** The first turn is at `firstAt`, each other one `distanceMs` after the last. */
  next(now: number, firstAt: number, distanceMs: number): number {
    this.#lastAt = Math.max(firstAt, this.#lastAt + distanceMs)
    if (this.#lastAt - now > MAX_TURN_MS) this.#lastAt = firstAt
    return Math.ceil(this.#lastAt - now)
  }
}

/** A token bucket that holds the tokens of one second. */
export class RateLimit {
  readonly #perSecond: number
  readonly #capacity: number
  readonly #turns = new Turns()
  #tokens: number
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#capacity = Math.max(1, perSecond)
    this.#tokens = this.#capacity
  }

  /** Null: send now. */
  take(now: number): number | null {
    const earned = Math.max(0, now - this.#countedAt) * (this.#perSecond / 1_000)
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#countedAt = now
    if (this.#tokens >= 1) {
      this.#tokens--
      return null
    }
    const firstAt = now + ((1 - this.#tokens) * 1_000) / this.#perSecond
    return this.#turns.next(now, firstAt, 1_000 / this.#perSecond)
  }
}

const MIN_TURN_MS = 500
const LAST_WEIGHT = 0.2

/** An event that finds its destination busy comes back when a request has probably ended for it. */
export class Requests {
  active = 0
  #meanMs = 0
  #changedAt = performance.now()
  readonly #turns = new Turns()

  began(): void {
    this.active++
    this.#changedAt = performance.now()
  }

  ended(startedAt: number): void {
    this.active--
    this.#changedAt = performance.now()
    const ms = this.#changedAt - startedAt
    this.#meanMs = this.#meanMs === 0 ? ms : this.#meanMs * (1 - LAST_WEIGHT) + ms * LAST_WEIGHT
  }

  nextTurnMs(now: number, concurrency: number): number {
    // An endpoint that answered quickly may hang now: then the time since the last change counts.
    const ms = Math.max(this.#meanMs, performance.now() - this.#changedAt)
    return this.#turns.next(now, now + MIN_TURN_MS * (1 + Math.random()), ms / concurrency)
  }
}
