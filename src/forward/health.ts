/**
 * Whether a destination is worth trying. After enough failures in a row, over enough time, it is paused: its events wait
 * and use up no attempt. From time to time one event goes through as a probe; the first that succeeds ends the pause.
 * Of this process only: another one finds out by itself.
 */
export type PauseReason = 'failing' | 'gone' | 'operator'

export interface Health {
  readonly paused: {
    readonly reason: PauseReason
    readonly at: number
    readonly nextProbeAt: number | null
  } | null
  readonly failuresInARow: number
  /** Null = go ahead, and say `begin`; else when to come back. */
  waitMs(now: number): number | null
  /** True when this one is a probe. */
  begin(now: number): boolean
  succeeded(): void
  failed(now: number, probe: boolean): void
  /** It came to nothing, for a reason of ours. */
  abandoned(probe: boolean): void
  /** The endpoint asked for quiet. */
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

const MOST_PROBE_MS = 15 * 60_000
/** What waits looks again at least this often, so that it notices a resume. */
const MOST_WAIT_MS = 5 * 60_000

export function createHealth(options: HealthOptions): Health {
  const { pauseAfter, probeEveryMs, onChange = () => {}, random = Math.random } = options
  let failures = 0
  let firstFailureAt = 0
  let quiet = 0
  let probing = false
  let probeMs = probeEveryMs
  let paused: { reason: PauseReason; at: number; nextProbeAt: number | null } | null = null

  function pause(now: number, reason: PauseReason): void {
    const news = paused?.reason !== reason
    probeMs = probeEveryMs
    // An endpoint that is gone, or that a person has paused, is not asked again by itself.
    paused = { reason, at: now, nextProbeAt: reason === 'failing' ? now + probeMs : null }
    if (news) onChange(true, reason)
  }

  function resume(): void {
    const news = paused !== null
    paused = null
    failures = 0
    quiet = 0
    if (news) onChange(false, null)
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
      if (nextProbeAt === null) return spread(Math.min(probeEveryMs, MOST_WAIT_MS), random)
      if (nextProbeAt <= now && !probing) return null
      const leastMs = Math.min(probeEveryMs, 1_000)
      return spread(Math.min(Math.max(nextProbeAt - now, leastMs), MOST_WAIT_MS), random)
    },
    begin() {
      if (!paused) return false
      probing = true
      return true
    },
    succeeded() {
      probing = false
      failures = 0
      // One that was begun before a person paused it, or before it said it was gone, proves nothing.
      if (paused?.reason === 'failing') resume()
    },
    failed(now, probe) {
      failures++
      if (failures === 1) firstFailureAt = now
      if (probe) {
        probing = false
        probeMs = Math.min(MOST_PROBE_MS, probeMs * 2)
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

/** Up to half as long again, so that what waits does not come back all at once. */
function spread(ms: number, random: () => number): number {
  return Math.ceil(ms * (1 + random() / 2))
}
