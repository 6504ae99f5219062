/** handle: runs a handler within its time limit, and turns any error into a result. */
import { atMost } from '../clock.js'
import { durationText } from '../duration.js'
import { type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent, Outcome } from '../model.js'
import { textOf } from './error-text.js'
import { isPermanent, postponedMs, type RetryPolicy, retryAfterMs, retryDelayMs } from './failure.js'
import { runningNow } from './floating-promises.js'
import type { Handlers } from './handlers.js'
import type { Redactor } from './redact.js'
import type { Scope, Session } from './session.js'

/**
 * The result of an attempt on one event. `lost`: the lease is lost, so nothing is written. `handed_back`: the process stops,
 * the event is released. `postponed`: the event is released for later. The last two do not count as attempts.
 */
export type Result =
  | Outcome
  | FailedAt
  | { readonly kind: 'lost' }
  | { readonly kind: 'handed_back' }
  | {
      readonly kind: 'postponed'
      readonly delayMs: number
      /** Set when the store failed; not set when the handler threw `postpone`. */
      readonly code?: ErrorCode
    }

/** A failure with the place in the code that threw it. The place is logged and not stored. */
interface FailedAt extends Extract<Outcome, { kind: 'failed' }> {
  readonly place?: string
}

/** True when there is an outcome to write; the other results leave the event as it was. */
export function isOutcome(result: Result): result is Outcome {
  return result.kind === 'succeeded' || result.kind === 'ignored' || result.kind === 'failed'
}

/** Aborts a session because the process stops. */
export class Stopping extends Error {
  override readonly name = 'Stopping'
}

export const DEFAULT_TIMEOUT_MS = 30_000

/** Aborts a session because its handler must not share a transaction on this store. */
export class NotShareable extends Error {
  override readonly name = 'NotShareable'
}

/**
 * On a store with one writer, the time limit of an event in a shared transaction. All other writes of the process wait for
 * that transaction, perhaps also a write of the handler itself, such as `inbox.once`.
 */
const SINGLE_WRITER_MS = 1_000

/** The time limit of an event that runs in this session. */
export interface Limit {
  readonly timeoutMs: number
  readonly timedOut: () => Error
}

export function limitOf<Tx>(session: Session<Tx>, timeoutMs: number, sharesWriter: boolean): Limit {
  if (sharesWriter && timeoutMs > SINGLE_WRITER_MS)
    return {
      timeoutMs: SINGLE_WRITER_MS,
      timedOut: () => new NotShareable(`the handler took longer than ${SINGLE_WRITER_MS} ms`),
    }
  return {
    timeoutMs,
    timedOut: () =>
      session.waiting
        ? new HookonceError('POOL_EXHAUSTED', { waitedMs: timeoutMs })
        : new Error(`the handler took longer than ${timeoutMs} ms`),
  }
}

/** A call that is out of time is waited for as long again, and at least so long. */
const MIN_OVERTIME_MS = 10_000
/** Most calls end when their signal is aborted; one that still runs after this time is reported. */
const REPORT_AFTER_MS = 1_000

/**
 * Runs one call of a handler with these events. A call that is out of time keeps its attempt, and with it the lease of its
 * event and the turn of its lane, until it ends. So attempts of one event do not overlap, unless a call never ends.
 */
export async function within<Tx>(
  session: Session<Tx>,
  claimed: readonly ClaimedEvent[],
  { timeoutMs, timedOut }: Limit,
  work: (scope: Scope<Tx>) => unknown,
  onStillRuns: (goesOn: boolean) => void,
): Promise<void> {
  if (session.reason) throw session.reason
  const scope = session.scope(claimed)
  const call = completed(scope, claimed, work)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    session.abort(timedOut())
  }, timeoutMs)
  try {
    await Promise.race([call, session.aborted])
  } catch (error) {
    scope.close()
    const overtimeMs = Math.max(timeoutMs, MIN_OVERTIME_MS)
    if (isLate && (await stillRuns(session, call, overtimeMs, onStillRuns))) sayStillRan(error, overtimeMs)
    throw error
  } finally {
    clearTimeout(timer)
    scope.close()
  }
}

/** Waits for a call that is out of time. True when it has not ended. */
async function stillRuns<Tx>(
  session: Session<Tx>,
  call: Promise<void>,
  overtimeMs: number,
  report: (goesOn: boolean) => void,
): Promise<boolean> {
  let runs = true
  let isAbandoned = false
  const ended = call
    .catch(() => {})
    .then(() => {
      runs = false
    })
  const over = Promise.race([
    ended,
    session.abandoned.then(() => {
      isAbandoned = true
    }),
  ])
  void session.rollBack() // its locks are not held any longer, and SQL that still runs is cancelled
  await atMost(REPORT_AFTER_MS, over)
  if (!runs || isAbandoned) return runs
  report(false)
  await atMost(overtimeMs - REPORT_AFTER_MS, over)
  if (runs && !isAbandoned) report(true)
  return runs && !isAbandoned
}

function sayStillRan(error: unknown, overtimeMs: number): void {
  if (error instanceof Error && !isHookonceError(error) && !(error instanceof NotShareable))
    error.message += `, and still ran ${durationText(overtimeMs)} later: it must end when ctx.signal is aborted`
}

/** Resolves when the handler has returned and its calls on `ctx` have ended, also those that it did not await. */
async function completed<Tx>(
  scope: Scope<Tx>,
  claimed: readonly ClaimedEvent[],
  work: (scope: Scope<Tx>) => unknown,
): Promise<void> {
  runningNow.add(claimed)
  try {
    await work(scope)
    const calls = scope.calls.ended()
    if (calls) await calls
  } finally {
    runningNow.delete(claimed)
  }
}

/** The result of an event whose workers died in every attempt; null while it has attempts left. */
export function usedUp(retry: RetryPolicy, tries: number): Extract<Result, { kind: 'failed' }> | null {
  if (tries <= retry.maxAttempts) return null
  return {
    kind: 'failed',
    error: 'its attempts were used up: workers died while they had it',
    retryInMs: null,
  }
}

/**
 * `say` returns the text that is stored. Never throws: a thrown object whose properties cannot be read would otherwise
 * leave its event to the lease, and count as a dead worker.
 */
function failure(
  error: unknown,
  retry: RetryPolicy,
  claimed: ClaimedEvent,
  say: (error: unknown) => string,
): Result {
  try {
    return classify(error, retry, claimed, say)
  } catch {
    return classify(new Error('the handler threw something that cannot be read'), retry, claimed, textOf)
  }
}

function classify(
  error: unknown,
  retry: RetryPolicy,
  { tries }: ClaimedEvent,
  say: (error: unknown) => string,
): Result {
  if (isHookonceError(error, 'LEASE_LOST')) return { kind: 'lost' }
  if (error instanceof Stopping) return { kind: 'handed_back' }
  if (isHookonceError(error) && storeFaults.includes(error.code)) return unavailableNow(error.code)
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

/** The store or its machine failed, and not the handler: an outage must not make dead letters. */
const storeFaults: readonly ErrorCode[] = [
  'POOL_EXHAUSTED',
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'COMMIT_UNKNOWN',
]

/** The result when the store could not begin, read or commit. */
export function unavailableNow(code: ErrorCode): Extract<Result, { kind: 'postponed' }> {
  return { kind: 'postponed', delayMs: 500 + 1_000 * Math.random(), code }
}

export interface FailureDeps<Tx> {
  readonly handlers: Pick<Handlers<Tx>, 'retryOf'>
  readonly redact: Redactor
}

/**
 * The result of an error in an attempt. An error after a transaction that could not begin is not the fault of the handler.
 * `claimed`: the event that failed, when it is known which event of the group it was.
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
  if (result.kind !== 'failed') return result
  if (session.unavailable) return unavailableNow(session.unavailable.code)
  return events.length === 1 ? { ...result, place: placeIn(redact, events[0]!, error) } : result
}

function placeIn(redact: Redactor, claimed: ClaimedEvent, error: unknown): string {
  try {
    return redact.place(error, claimed)
  } catch {
    return ''
  }
}

/** For a group only the name of the error, because the message may quote the payload of any event. */
function errorText(redact: Redactor, events: readonly ClaimedEvent[], error: unknown): string {
  if (events.length === 1) return redact.error(error, events[0]!)
  const name = error instanceof Error ? error.name : 'an error'
  return events.reduce((text, event) => redact.reason(text, event), name)
}

export function leaseLost(event: { readonly source: string; readonly eventId: string }): HookonceError {
  return new HookonceError('LEASE_LOST', { source: event.source, eventId: event.eventId })
}
