/** When to try again: exponential with full jitter above a floor, and a cap. */
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
  const full = Math.min(policy.maxMs, policy.firstMs * policy.factor ** (tries - 1))
  return Math.round(full / 2 + (full / 2) * random())
}
