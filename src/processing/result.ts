/** Results: how an attempt on one event ended, and how an error becomes a result. */
import { type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent, EventKey, Outcome, Reply } from '../model.js'
import type { AttemptDeps } from './attempt.js'
import { textOf } from './error-text.js'
import { delayOf, type RetryPolicy, retryDelayMs } from './failure.js'
import type { Redactor } from './redact.js'
import type { Session } from './session.js'

/**
 * `lost`: the lease is lost, so nothing is written. `handed_back`: the process stops, the event is released; or, with
 * `stillRuns`, its lease expires, because its handler ignores the stop. `postponed`: the event is released for later. An
 * attempt whose event is released does not count.
 */
export type Result =
  | (Exclude<Outcome, { kind: 'failed' }> & { readonly reply?: Reply })
  | FailedAt
  | { readonly kind: 'lost' }
  | { readonly kind: 'handed_back'; readonly stillRuns?: true }
  | {
      readonly kind: 'postponed'
      readonly delayMs: number
      /** Set when the store failed; not set when the handler threw `postpone`. */
      readonly code?: ErrorCode
    }

interface FailedAt extends Extract<Outcome, { kind: 'failed' }> {
  /** Set when the handler threw `retryAfter`, which pauses its limit. */
  readonly retryAfterMs?: number
}

export function isOutcome(result: Result): result is Outcome {
  return result.kind === 'succeeded' || result.kind === 'ignored' || result.kind === 'failed'
}

export class Stopping extends Error {
  override readonly name = 'Stopping'
}

/** Aborts the session of several events, because each of them needs a transaction of its own. */
export class NeedsOwnTransaction extends Error {
  override readonly name = 'NeedsOwnTransaction'
}

export function leaseLost({ source, id }: EventKey): HookonceError {
  return new HookonceError('LEASE_LOST', { source, eventId: id })
}

/** Null while the event has attempts left. */
export function usedUp(retry: RetryPolicy, tries: number): Extract<Result, { kind: 'failed' }> | null {
  if (tries <= retry.maxAttempts) return null
  return {
    kind: 'failed',
    error: 'its attempts were used up: workers died while they had it',
    retryInMs: null,
  }
}

export function unavailableNow(code: ErrorCode): Extract<Result, { kind: 'postponed' }> {
  return { kind: 'postponed', delayMs: 500 + 1_000 * Math.random(), code }
}

/**
 * The handler is not to blame for an error after a transaction that could not begin. `claimed`: the event that failed, when
 * it is known which event of the session it was.
 */
export function failureIn<Tx>(
  { registry, redact }: AttemptDeps<Tx>,
  session: Session<Tx>,
  error: unknown,
  claimed?: ClaimedEvent,
): Result {
  const events = claimed ? [claimed] : session.claimed
  const [first] = events as readonly [ClaimedEvent]
  const retry = registry.retryOf(first.source, first.type)
  let result: Result
  try {
    result = classify(error, retry, first, (thrown) => errorText(redact, events, thrown))
  } catch {
    // A thrown object whose properties cannot be read must not leave its event to the lease: that counts as a dead worker.
    result = classify(new Error('the handler threw something that cannot be read'), retry, first, textOf)
  }
  if (result.kind !== 'failed') return result
  if (session.unavailable) return unavailableNow(session.unavailable.code)
  return events.length === 1 ? { ...result, place: placeIn(redact, first, error) } : result
}

function classify(
  error: unknown,
  retry: RetryPolicy,
  { tries }: ClaimedEvent,
  storedText: (error: unknown) => string,
): Result {
  if (isHookonceError(error, 'LEASE_LOST')) return { kind: 'lost' }
  if (error instanceof Stopping) return { kind: 'handed_back' }
  if (isHookonceError(error) && storeFaults.includes(error.code)) return unavailableNow(error.code)
  const laterMs = delayOf(error, 'Postponed')
  if (laterMs !== null) return { kind: 'postponed', delayMs: laterMs }
  const text = storedText(error)
  if (delayOf(error, 'PermanentFailure') !== null || isHookonceError(error, 'RESULT_NOT_KEPT'))
    return { kind: 'failed', error: text, retryInMs: null }
  const delayMs = retryDelayMs(retry, tries)
  const retryAfterMs = delayOf(error, 'RetryAfter')
  return {
    kind: 'failed',
    error: text,
    retryInMs: delayMs === null ? null : (retryAfterMs ?? delayMs),
    ...(retryAfterMs !== null && { retryAfterMs }),
  }
}

/** The store or its machine failed, and not the handler: an outage must not make dead letters. */
const storeFaults: readonly ErrorCode[] = [
  'POOL_EXHAUSTED',
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'COMMIT_UNKNOWN',
]

function placeIn(redact: Redactor, claimed: ClaimedEvent, error: unknown): string {
  try {
    return redact.place(error, claimed)
  } catch {
    return ''
  }
}

/** Several events get only the name of the error, because the message may quote the payload of any of them. */
function errorText(redact: Redactor, events: readonly ClaimedEvent[], error: unknown): string {
  if (events.length === 1) return redact.error(error, events[0]!)
  const name = error instanceof Error ? error.name : 'an error'
  return events.reduce((text, event) => redact.reason(text, event), name)
}
