/**
 * A time limit on every call, and after a few failures in a row no calls for a while: what only saves time must not
 * cost any.
 */
import { timeLimited } from '../clock.js'

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
        const value = await timeLimited(
          call(),
          timeLimitMs,
          () => new Error(`no answer within ${timeLimitMs} ms`),
        )
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
