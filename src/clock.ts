/** Time as a value that is handed in, so that tests can hold it still. Leases never use it: see I9. */
export interface Clock {
  /** Milliseconds since 1970. May be set by the host, also backwards. */
  now(): number
  /** Milliseconds since any start, of a clock that nobody sets. Left out = only `now` says that time has passed. */
  steady?(): number
}

export const systemClock: Clock = { now: () => Date.now(), steady: () => performance.now() }

export interface ForwardClock extends Clock {
  /** Somebody else has written this instant: from here on it is not earlier. */
  atLeast(instant: number): void
}

/** How fast a clock runs that is ahead of its host: an hour is made up for in ten hours. */
const CATCH_UP = 0.9

/**
 * A clock that never runs backwards and never stands still. It is the host's clock; when that is set back, the last time
 * given stays the earliest, and time goes on from there by the steady clock, a little slower until the host has caught
 * up. So what was due stays due, and a delay written just before takes its own time and not an hour more.
 */
export function forwardClock(host: Clock): ForwardClock {
  let latest = Number.NEGATIVE_INFINITY
  let latestSteady = 0

  function advance(instant: number): void {
    const steady = host.steady?.() ?? 0
    const passed = Math.max(0, steady - latestSteady) * CATCH_UP
    latest = Math.max(instant, latest + passed)
    latestSteady = steady
  }

  return {
    now() {
      advance(host.now())
      return Math.trunc(latest)
    },
    atLeast: advance,
  }
}

/** What `work` comes to, or `late()` when it takes longer. What it comes to after that is nobody's. */
export async function timeLimited<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    // A busy event loop runs its timers before it reads its sockets: an answer that is there already gets its turn.
    timer = setTimeout(() => setImmediate(() => reject(late())), limitMs)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for `work` at most so long, whatever comes of it. */
export function atMost(limitMs: number, work: Promise<unknown> | null | undefined): Promise<unknown> {
  return timeLimited(work ?? Promise.resolve(), limitMs, () => new Error('late')).catch(() => {})
}

/** How much is left until `limitMs` from now, at least one. */
export function countDown(limitMs: number): () => number {
  const until = performance.now() + limitMs
  return () => Math.max(1, until - performance.now())
}
