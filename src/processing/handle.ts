/** handle: runs the application's code within its time and turns whatever happens into an outcome. */
import { type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent, Outcome } from '../model.js'
import { type RetryPolicy, retryDelayMs } from './backoff.js'
import { withPayload } from './event.js'
import { askedDelayMs, isPermanent, permanent, postponedMs, textOf } from './failure.js'
import type { HandledEvent, StandardSchema } from './handler.js'
import { whileRunning } from './rejections.js'
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

/** The event with what the schema made of its payload. A payload that does not fit never will. */
export async function validated(event: HandledEvent, schema: StandardSchema): Promise<HandledEvent> {
  const result = await schema['~standard'].validate(event.payload)
  if (result.issues) {
    const [first] = result.issues
    throw permanent(
      `the payload does not fit the schema: ${first?.message ?? 'no reason given'}${pathOf(first?.path)}`,
    )
  }
  return withPayload(event, result.value)
}

function pathOf(path: readonly unknown[] | undefined): string {
  if (!path?.length) return ''
  return ` at ${path.map((step) => String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step)).join('.')}`
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
export function failure(
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
    retryInMs: delayMs === null ? null : (askedDelayMs(error) ?? delayMs),
  }
}

/** The store had no transaction to give: the event waits, no attempt is used up. */
export function unavailableNow(code: ErrorCode): Extract<Result, { kind: 'postponed' }> {
  return { kind: 'postponed', delayMs: 500 + 1_000 * Math.random(), code }
}

/** As `failure`, for what was thrown inside a session: an error because of a missing transaction is not the handler's. */
export function failureIn<Tx>(
  session: Session<Tx>,
  error: unknown,
  retry: RetryPolicy,
  claimed: ClaimedEvent,
  say: (error: unknown) => string,
): Result {
  const found = failure(error, retry, claimed, say)
  return found.kind === 'failed' && session.unavailable ? unavailableNow(session.unavailable.code) : found
}

export function leaseLost(event: { readonly source: string; readonly eventId: string }): HookonceError {
  return new HookonceError('LEASE_LOST', { source: event.source, eventId: event.eventId })
}
