/** What a handler may throw to say more than "it failed", and how any error becomes text for the log. */
import { isHookonceError } from '../errors.js'
import { limits } from '../model.js'

class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number
  constructor(delayMs: number, message: string) {
    super(message)
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

/** `throw retryAfter(ms)`: try again then, whatever the policy's wait would have been. It still counts as an attempt. */
export function retryAfter(ms: number, why: unknown = 'the handler asked to be called again'): Error {
  return new RetryAfter(delayOf('retryAfter', ms), textOf(why))
}

/**
 * `throw postpone(ms)`: not now, and nobody's fault: come back then. It does not count as an attempt and leaves no trace
 * in the attempts, so it is for conditions that end by themselves (a rate limit, a pause), never for a failure.
 */
export function postpone(ms: number, why: unknown = 'the handler asked to be called later'): Error {
  return new Postponed(delayOf('postpone', ms), textOf(why))
}

function delayOf(name: string, ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`${name}: ${ms} is not a number of milliseconds`)
  return Math.min(ms, 366 * 86_400_000)
}

export function isPermanent(error: unknown): boolean {
  return error instanceof PermanentFailure
}

export function postponedMs(error: unknown): number | null {
  return error instanceof Postponed ? error.delayMs : null
}

export function askedDelayMs(error: unknown): number | null {
  return error instanceof RetryAfter ? error.delayMs : null
}

/**
 * An error as text: its name and message, no stack, cut to the limit. What a handler puts into a message is the
 * application's choice; what looks like a credential is masked all the same, and so is the text that JSON.parse quotes.
 */
export function textOf(error: unknown): string {
  const masked = storable(nameAndMessage(error))
    .replace(/\b(whsec|sk|rk|pk|gh[pousr]|github_pat)_[A-Za-z0-9_-]{8,}/g, '$1_***')
    .replace(/\b(xox[a-z]|xapp)-[A-Za-z0-9-]{8,}/g, '$1-***')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***')
    .replace(/(\/\/[^/\s:@]+):[^@\s/]+@/g, '$1:***@')
    .replace(/Unexpected token .*is not valid JSON/s, 'the text is not valid JSON')
  return cut(masked === '' ? 'an error without a message' : masked, limits.errorBytes)
}

/** A reason as the log takes it. */
export function reasonOf(reason: string): string {
  const text = storable(String(reason))
  return cut(text === '' ? 'no reason given' : text, limits.reasonBytes)
}

/** What both databases keep: no NUL, no half of a character. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

/** Anything can be thrown, also what cannot be turned into text. */
function nameAndMessage(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error)
    const ours =
      error instanceof PermanentFailure ||
      error instanceof RetryAfter ||
      error instanceof Postponed ||
      isHookonceError(error)
    return ours || error.name === 'Error' ? String(error.message) : `${error.name}: ${error.message}`
  } catch {
    return 'something that is not an error was thrown'
  }
}

function cut(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  return `${Buffer.from(text)
    .subarray(0, most - 8)
    .toString('utf8')
    .replace(/\ufffd+$/, '')} …`
}
