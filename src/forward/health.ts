/**
 * When a destination may be tried. After enough failures in a row over enough time it is paused: its events are postponed
 * and use up no attempts. From time to time one event is sent as a probe; the first that succeeds ends the pause. A rate
 * limit spreads the requests, and turns spread the events that find a destination busy. All are kept for this process only.
 */
export type PauseReason = 'failing' | 'gone' | 'operator'

export interface Health {
  readonly paused: {
    readonly reason: PauseReason
    readonly at: number
    readonly nextProbeAt: number | null
  } | null
  readonly failuresInARow: number
  /** Null: send now, after `begin`; else the time to wait. */
  waitMs(now: number): number | null
  /** True when this request is a probe. */
  begin(now: number): boolean
  succeeded(): void
  failed(now: number, probe: boolean): void
  /** The request was not made, or was aborted here. */
  abandoned(probe: boolean): void
  /** The endpoint asked for no requests until then (Retry-After). */
  quietUntil(at: number): void
  pause(now: number, reason: PauseReason): void
  resume(): void
}

export interface HealthOptions {
  readonly pauseAfter: { readonly failures: number; readonly lastingMs: number } | null
  readonly probeEveryMs: number
  readonly onChange?: (paused: boolean, reason: PauseReason | null) => void
  readonly random?: () => number
}

const MAX_PROBE_MS = 15 * 60_000
/** Events that wait are tried again at least this often, so that they notice a resume. */
const MAX_WAIT_MS = 5 * 60_000

export function createHealth(options: HealthOptions): Health {
  const { pauseAfter, probeEveryMs, onChange = () => {}, random = Math.random } = options
  let failures = 0
  let firstFailureAt = 0
  let quiet = 0
  let probing = false
  let probeMs = probeEveryMs
  let paused: { reason: PauseReason; at: number; nextProbeAt: number | null } | null = null

  function pause(now: number, reason: PauseReason): void {
    const changed = paused?.reason !== reason
    probeMs = probeEveryMs
    // An endpoint that is gone, or that an operator has paused, is not probed.
    paused = { reason, at: now, nextProbeAt: reason === 'failing' ? now + probeMs : null }
    if (changed) onChange(true, reason)
  }

  function resume(): void {
    const changed = paused !== null
    paused = null
    failures = 0
    quiet = 0
    if (changed) onChange(false, null)
  }

  return {
    get paused() {
      return paused
    },
    get failuresInARow() {
      return failures
    },
    waitMs(now) {
      if (!paused) return quiet > now ? spread(quiet - now, random) : null
      const { nextProbeAt } = paused
      if (nextProbeAt === null) return spread(Math.min(probeEveryMs, MAX_WAIT_MS), random)
      if (nextProbeAt <= now && !probing) return null
      const leastMs = Math.min(probeEveryMs, 1_000)
      return spread(Math.min(Math.max(nextProbeAt - now, leastMs), MAX_WAIT_MS), random)
    },
    begin() {
      if (!paused) return false
      probing = true
      return true
    },
    succeeded() {
      probing = false
      failures = 0
      // A request that began before an operator paused it, or before it answered 410, does not end the pause.
      if (paused?.reason === 'failing') resume()
    },
    failed(now, probe) {
      failures++
      if (failures === 1) firstFailureAt = now
      if (probe) {
        probing = false
        probeMs = Math.min(MAX_PROBE_MS, probeMs * 2)
        if (paused?.nextProbeAt != null) paused = { ...paused, nextProbeAt: now + probeMs }
      } else if (
        !paused &&
        pauseAfter &&
        failures >= pauseAfter.failures &&
        now - firstFailureAt >= pauseAfter.lastingMs
      ) {
        pause(now, 'failing')
      }
    },
    abandoned(probe) {
      if (probe) probing = false
    },
    quietUntil(at) {
      quiet = Math.max(quiet, at)
    },
    pause,
    resume,
  }
}

/** Adds up to half of the time at random, so that waiting events are not all tried at once. */
function spread(ms: number, random: () => number): number {
  return Math.ceil(ms * (1 + random() / 2))
}

/** A token bucket with tokens for one second. */
export interface RateLimit {
  /** Null: send now; else the time to wait, different for each caller. */
  take(now: number): number | null
}

/** No event waits longer for its turn: the limit may be changed, or the process restarted. */
const MAX_TURN_MS = 60_000

export function createRateLimit(perSecond: number | null): RateLimit {
  if (perSecond === null) return { take: () => null }
  const capacity = Math.max(1, perSecond)
  let tokens = capacity
  let countedAt = Number.NEGATIVE_INFINITY
  let nextTurnAt = 0
  return {
    take(now) {
      tokens = Math.min(capacity, tokens + Math.max(0, now - countedAt) * (perSecond / 1_000))
      countedAt = now
      if (tokens >= 1) {
        tokens--
        return null
      }
      const firstAt = now + ((1 - tokens) * 1_000) / perSecond
      nextTurnAt = Math.max(firstAt, nextTurnAt + 1_000 / perSecond)
      if (nextTurnAt - now > MAX_TURN_MS) nextTurnAt = firstAt
      return Math.ceil(nextTurnAt - now)
    },
  }
}

/** Turns of events that find their destination busy: each comes back when a request will probably have ended for it. */
export interface Turns {
  /** A request has begun. */
  began(): void
  /** A request has ended after this time. */
  ended(ms: number): void
  /** The time to wait, different for each caller. */
  next(now: number): number
}

const MIN_TURN_MS = 500
/** The weight of the last request in the moving average. */
const LAST_WEIGHT = 0.2

export function createTurns(concurrency: number): Turns {
  let meanMs = 0
  let changedAt = performance.now()
  let lastTurnAt = 0
  return {
    began() {
      changedAt = performance.now()
    },
    ended(ms) {
      changedAt = performance.now()
      meanMs = meanMs === 0 ? ms : meanMs * (1 - LAST_WEIGHT) + ms * LAST_WEIGHT
    },
    next(now) {
      const firstAt = now + MIN_TURN_MS * (1 + Math.random())
      // An endpoint that answered quickly may hang: then the time since the last change counts.
      const ms = Math.max(meanMs, performance.now() - changedAt)
      lastTurnAt = Math.max(firstAt, lastTurnAt + ms / concurrency)
      if (lastTurnAt - now > MAX_TURN_MS) lastTurnAt = firstAt
      return Math.ceil(lastTurnAt - now)
    },
  }
}
