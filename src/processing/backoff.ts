/** When to try again: exponential with full jitter above a floor, and a cap. */
import { limits } from '../model.js'

export interface RetryPolicy {
  /** Attempts in all, counted since the event was recorded or an operator gave it a new start. Default 12. */
  readonly maxAttempts: number
  /** The wait after the first failure. Default 1,000. */
  readonly firstMs: number
  /** Each wait is this many times the one before. Default 2. */
  readonly factor: number
  /** Default one hour. */
  readonly maxMs: number
}

export const defaultRetry: RetryPolicy = { maxAttempts: 12, firstMs: 1_000, factor: 2, maxMs: 3_600_000 }

/**
 * The wait before the attempt after `tries`; null when there is none. Half of it is fixed and half is chance, so that
 * events which failed together do not come back together.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  tries: number,
  random: () => number = Math.random,
): number | null {
  if (tries >= policy.maxAttempts) return null
  // A first wait of 0 times a factor without bound is no number; then the longest wait is the safe one.
  const grown = policy.firstMs * policy.factor ** (tries - 1)
  const full = delayWithin(Number.isNaN(grown) ? policy.maxMs : Math.min(policy.maxMs, grown))
  return Math.round(full / 2 + (full / 2) * random())
}

/** The delay as every store takes it: an outcome that cannot be written would leave its event to the lease. */
export function delayWithin(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), limits.delayMs) || 0
}
