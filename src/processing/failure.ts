/** How a failed attempt is retried: the policy of the handler, and the errors with which a handler overrides it. */
import { type Duration, durationMs, msOf } from '../duration.js'
import { limits } from '../model.js'
import { checkOptions, complete, duration, numberFrom, type Rule, shape, whole } from '../options.js'
import { textOf } from './error-text.js'

export interface RetryPolicy {
  /** Attempts in all, counted since the event was recorded or an operator retried it. Default 25. */
  readonly maxAttempts: number
  /** Delay after the first failure. Default `'1s'`. */
  readonly firstDelay: Duration
  /** Each delay is this many times the one before. Default 2. */
  readonly factor: number
  /** The longest delay. Default `'9h'`. */
  readonly maxDelay: Duration
}

/** About three days: a downstream service may be away over a weekend night before anyone looks. */
export const defaultRetry: RetryPolicy = { maxAttempts: 25, firstDelay: '1s', factor: 2, maxDelay: '9h' }

export const retryRule = shape({
  maxAttempts: whole(1),
  firstDelay: duration(0, limits.delayMs),
  factor: numberFrom(0),
  maxDelay: duration(0, limits.delayMs),
} satisfies Record<keyof RetryPolicy, Rule>)

/** Throws for a wrong value, or one that is missing, in a policy that was merged with the defaults. */
export function checkRetry(retry: RetryPolicy): void {
  checkOptions('retry', retry, complete(retryRule))
}

/**
 * Null: no next attempt. Half of the delay is random jitter, so events that failed at the same time are not retried at the
 * same time.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  tries: number,
  random: () => number = Math.random,
): number | null {
  if (tries >= policy.maxAttempts) return null
  // A first delay of 0 times an infinite factor is NaN; the longest delay is the safe one then.
  const grown = msOf(policy.firstDelay, 0) * policy.factor ** (tries - 1)
  const maxMs = msOf(policy.maxDelay, 0)
  const full = clampDelay(Number.isNaN(grown) ? maxMs : Math.min(maxMs, grown))
  return Math.round(full / 2 + (full / 2) * random())
}

class Directive extends Error {
  override readonly name: 'PermanentFailure' | 'RetryAfter' | 'Postponed'
  readonly delayMs: number

  constructor(name: Directive['name'], why: unknown, delayMs = 0) {
    super(textOf(why), { cause: why })
    this.name = name
    this.delayMs = delayMs
  }
}

/** `throw permanent(error)`: no retry can help. The event becomes a dead letter at once. */
export function permanent(error: unknown): Error {
  return new Directive('PermanentFailure', error)
}

/**
 * `throw retryAfter('5m')`: retry after this time (one year at most) instead of the delay of the policy. The attempt counts,
 * and after the last one the event is a dead letter.
 */
export function retryAfter(delay: Duration, why: unknown = 'the handler asked to be called again'): Error {
  return new Directive('RetryAfter', why, checkDelay('retryAfter', delay))
}

/**
 * `throw postpone('5m')`: try again after this time (one year at most). The attempt does not count and is not recorded, so
 * use it only for conditions that end without intervention (a rate limit, a pause), never for a failure.
 */
export function postpone(delay: Duration, why: unknown = 'the handler asked to be called later'): Error {
  return new Directive('Postponed', why, checkDelay('postpone', delay))
}

/** The handler says itself how the attempt ends. */
export function isDirective(error: unknown): boolean {
  return error instanceof Directive
}

export function delayOf(error: unknown, name: Directive['name']): number | null {
  return error instanceof Directive && error.name === name ? clampDelay(error.delayMs) : null
}

function checkDelay(name: string, delay: Duration): number {
  const ms = durationMs(delay)
  if (ms === null || !Number.isFinite(ms) || ms < 0)
    throw new RangeError(`${name}: ${delay} is not a duration such as '30s' or 30000`)
  return clampDelay(ms)
}

/** Every store accepts such a delay. An outcome that cannot be written would leave its event to the lease. */
function clampDelay(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), limits.delayMs) || 0
}
