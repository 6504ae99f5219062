/** What a handler may throw to say more than "it failed", and how any error becomes text for the log. */
import { limits } from '../model.js'
import { delayWithin } from './backoff.js'
import { asText, cut, describeError, storable } from './error-text.js'

class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number
  constructor(delayMs: number, message: string, cause: unknown) {
    super(message, { cause })
    this.delayMs = delayMs
  }
}

class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly delayMs: number
  constructor(delayMs: number, message: string) {
    super(message)
    this.delayMs = delayMs
  }
}

/** `throw permanent(error)`: no further attempt can help; straight to the dead letters. */
export function permanent(error: unknown): Error {
  return new PermanentFailure(textOf(error), { cause: error })
}

/** `throw retryAfter(ms)`: try again then (in a year at most), whatever the policy's wait would have been. It still counts as an attempt. */
export function retryAfter(ms: number, why: unknown = 'the handler asked to be called again'): Error {
  return new RetryAfter(delayOf('retryAfter', ms), textOf(why), why)
}

/**
 * `throw postpone(ms)`: not now, and nobody's fault: come back then, in a year at most. It does not count as an attempt and leaves no trace
 * in the attempts, so it is for conditions that end by themselves (a rate limit, a pause), never for a failure.
 */
export function postpone(ms: number, why: unknown = 'the handler asked to be called later'): Error {
  return new Postponed(delayOf('postpone', ms), textOf(why))
}

function delayOf(name: string, ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`${name}: ${ms} is not a number of milliseconds`)
  return delayWithin(ms)
}

export function isPermanent(error: unknown): boolean {
  return error instanceof PermanentFailure
}

export function postponedMs(error: unknown): number | null {
  return error instanceof Postponed ? delayWithin(error.delayMs) : null
}

export function askedDelayMs(error: unknown): number | null {
  return error instanceof RetryAfter ? delayWithin(error.delayMs) : null
}

/**
 * An error as text: its name and message and those of its causes, no stack, cut to the limit, without credentials.
 * Where there is an event, `redact.ts` takes out more.
 */
export function textOf(error: unknown): string {
  const text = withoutCredentials(storable(describeError(error)).slice(0, 2 * limits.errorBytes))
  return cut(text === '' ? 'an error without a message' : text, limits.errorBytes)
}

/** What looks like a credential is masked, and so is the text that JSON.parse quotes. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/\b(whsec|sk|rk|pk|gh[pousr]|github_pat)_[A-Za-z0-9_-]{8,}/g, '$1_***')
    .replace(/\b(xox[a-z]|xapp)-[A-Za-z0-9-]{8,}/g, '$1-***')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***')
    .replace(/(\/\/[^/\s:@]+):[^@\s/]+@/g, '$1:***@')
    .replace(/Unexpected token .*is not valid JSON/s, 'the text is not valid JSON')
}

/** A reason as the log takes it. */
export function reasonOf(reason: string): string {
  const text = storable(asText(reason))
  return cut(text === '' ? 'no reason given' : text, limits.reasonBytes)
}
