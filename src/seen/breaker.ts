/**
 * A time limit on every call, and after a few failures in a row no calls for a while: what only saves time must not
 * cost any.
 */
export interface Breaker {
  /** Null instead of a call while it is open. Throws what the call throws, and when it takes too long. */
  run<T>(call: () => Promise<T>): Promise<T | null>
}

export interface BreakerOptions {
  readonly timeLimitMs: number
  /** Failures in a row before it opens. */
  readonly failures: number
  /** How long it stays open; then one call tries. */
  readonly pauseMs: number
}

export function createBreaker({ timeLimitMs, failures, pauseMs }: BreakerOptions): Breaker {
  let inARow = 0
  let closedAgainAt = 0

  return {
    async run(call) {
      if (inARow >= failures) {
        if (performance.now() < closedAgainAt) return null
        // This one tries; the others wait for what it finds.
        closedAgainAt = performance.now() + pauseMs
      }
      try {
        const value = await within(call(), timeLimitMs)
        inARow = 0
        return value
      } catch (error) {
        inARow++
        closedAgainAt = performance.now() + pauseMs
        throw error
      }
    },
  }
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // A busy event loop runs its timers before it reads its sockets: an answer that is there already gets its turn.
    const giveUp = () => setImmediate(() => reject(new Error(`no answer within ${limitMs} ms`)))
    timer = setTimeout(giveUp, limitMs)
  })
  work.catch(() => {}) // when it is late, its failure is nobody's
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
