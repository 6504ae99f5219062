/** handle: runs the application's code within its time and turns whatever happens into an outcome. */
import { type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent, Outcome } from '../model.js'
import { textOf } from './error-text.js'
import { isPermanent, postponedMs, type RetryPolicy, retryAfterMs, retryDelayMs } from './failure.js'
import { whileRunning } from './floating-promises.js'
import type { Handlers } from './handlers.js'
import type { Redactor } from './redact.js'
import type { Session } from './session.js'

/**
 * What an attempt came to. `lost`: somebody else has the event; there is nothing to write. `handed_back`: the process had
 * to stop; the attempt does not count. `postponed`: the handler asked for another time; neither does that.
 */
export type Result =
  | Outcome
  | { readonly kind: 'lost' }
  | { readonly kind: 'handed_back' }
  | {
      readonly kind: 'postponed'
      readonly delayMs: number
      /** Why, when it was the store that could not go on and not the handler that asked. */
      readonly code?: ErrorCode
    }

/** False: there is no outcome to write. */
export function isOutcome(result: Result): result is Outcome {
  return result.kind === 'succeeded' || result.kind === 'ignored' || result.kind === 'failed'
}

/** The reason a session is aborted with when the process stops. */
export class Stopping extends Error {
  override readonly name = 'Stopping'
}

export const DEFAULT_TIMEOUT_MS = 30_000

export async function within<Tx>(
  session: Session<Tx>,
  timeoutMs: number,
  work: () => unknown,
): Promise<void> {
  const timer = setTimeout(
    () =>
      session.abort(
        session.waiting
          ? new HookonceError('POOL_EXHAUSTED', { waitedMs: timeoutMs })
          : new Error(`the handler took longer than ${timeoutMs} ms`),
      ),
    timeoutMs,
  )
  try {
    session.signal.throwIfAborted()
    const completing = whileRunning(session.claimed, () => completed(session, work))
    await Promise.race([completing, aborted(session.signal)])
  } finally {
    clearTimeout(timer)
  }
}

/** The handler has returned and its calls on `ctx` have ended, also those it did not wait for. */
async function completed<Tx>(session: Session<Tx>, work: () => unknown): Promise<void> {
  await work()
  await session.calls.ended()
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** An event whose workers died with it again and again, never to say why. */
export function usedUp(retry: RetryPolicy, tries: number): Extract<Result, { kind: 'failed' }> | null {
  if (tries <= retry.maxAttempts) return null
  return {
    kind: 'failed',
    error: 'its attempts were used up: workers died while they had it',
    retryInMs: null,
  }
}

/**
 * `say` makes the text that is stored. Never throws, whatever was thrown: an object that throws when it is looked at would
 * otherwise leave its event to the lease, and count as a dead worker.
 */
function failure(
  error: unknown,
  retry: RetryPolicy,
  claimed: ClaimedEvent,
  say: (error: unknown) => string,
): Result {
  try {
    return judged(error, retry, claimed, say)
  } catch {
    return judged(new Error('the handler threw something that cannot be read'), retry, claimed, textOf)
  }
}

function judged(
  error: unknown,
  retry: RetryPolicy,
  { tries }: ClaimedEvent,
  say: (error: unknown) => string,
): Result {
  if (isHookonceError(error, 'LEASE_LOST')) return { kind: 'lost' }
  if (error instanceof Stopping) return { kind: 'handed_back' }
  if (isHookonceError(error, 'POOL_EXHAUSTED')) return unavailableNow(error.code)
  const laterMs = postponedMs(error)
  if (laterMs !== null) return { kind: 'postponed', delayMs: laterMs }
  const text = say(error)
  if (isPermanent(error) || isHookonceError(error, 'RESULT_NOT_KEPT'))
    return { kind: 'failed', error: text, retryInMs: null }
  const delayMs = retryDelayMs(retry, tries)
  return {
    kind: 'failed',
    error: text,
    retryInMs: delayMs === null ? null : (retryAfterMs(error) ?? delayMs),
  }
}

/** The store had no transaction to give: the event waits, no attempt is used up. */
export function unavailableNow(code: ErrorCode): Extract<Result, { kind: 'postponed' }> {
  return { kind: 'postponed', delayMs: 500 + 1_000 * Math.random(), code }
}

export interface FailureDeps<Tx> {
  readonly handlers: Pick<Handlers<Tx>, 'retryOf'>
  readonly redact: Redactor
}

/**
 * The result of an error that was thrown in an attempt. An error that follows from a transaction that could not begin is
 * not the handler's. `claimed`: the event that failed, if it is known which one of the group it was.
 */
export function failureIn<Tx>(
  { handlers, redact }: FailureDeps<Tx>,
  session: Session<Tx>,
  error: unknown,
  claimed?: ClaimedEvent,
): Result {
  const events = claimed ? [claimed] : session.claimed
  const { source, eventType } = events[0]!
  const text = (thrown: unknown) => errorText(redact, events, thrown)
  const result = failure(error, handlers.retryOf(source, eventType), events[0]!, text)
  return result.kind === 'failed' && session.unavailable ? unavailableNow(session.unavailable.code) : result
}

/** Of a group only the name of the error: its message may quote any of the events. */
function errorText(redact: Redactor, events: readonly ClaimedEvent[], error: unknown): string {
  if (events.length === 1) return redact.error(error, events[0]!)
  const name = error instanceof Error ? error.name : 'an error'
  return events.reduce((text, event) => redact.reason(text, event), name)
}

export function leaseLost(event: { readonly source: string; readonly eventId: string }): HookonceError {
  return new HookonceError('LEASE_LOST', { source: event.source, eventId: event.eventId })
}
