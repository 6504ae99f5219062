/**
 * Sends one event to one destination. Each destination is a consumer, with its own attempts of the event. While the circuit
 * of a destination is open, or it is busy or over its rate, its events are postponed, which uses up no attempt.
 */
import { HookonceError, isHookonceError } from '../errors.js'
import { permanent, postpone, retryAfter, retryDelayMs } from '../processing/failure.js'
import type { HandledEvent, HandlerContext } from '../processing/handler.js'
import type { CheckedDestination } from './destination.js'
import type { Lookup } from './guard.js'
import type { Health, RateLimit, Requests } from './health.js'
import { type Answered, send } from './send.js'
import { headersFor } from './sign.js'

export interface Outlet {
  readonly destination: CheckedDestination
  readonly health: Health
  readonly rate: RateLimit | null
  readonly requests: Requests
  readonly lookup: Lookup | undefined
  readonly now: () => number
  /** The endpoint answered 410: pauses the destination, for all processes. */
  gone(): Promise<void>
  readonly counts: { sent: number; failed: number; postponed: number }
  lastHttpStatus: number | null
  lastSentAt: number | null
  lastFailedAt: number | null
  lastProblem: string | null
}

/** A longer Retry-After of an endpoint is cut to this. */
const MAX_RETRY_AFTER_MS = 60 * 60_000

/** Resolves when the endpoint has accepted the event. */
export async function forward(outlet: Outlet, event: HandledEvent, ctx: HandlerContext): Promise<void> {
  const { health, requests, now } = outlet
  const waitMs = health.waitMs(now()) ?? turnMs(outlet) ?? outlet.rate?.take(now()) ?? null
  if (waitMs !== null) {
    outlet.counts.postponed++
    throw postpone(waitMs)
  }
  const probe = health.begin()
  requests.began()
  const startedAt = performance.now()
  let answered: Answered
  try {
    answered = await request(outlet, event, ctx)
  } catch (error) {
    if (!ctx.signal.aborted && isHookonceError(error)) throw failed(outlet, error, ctx.attempt, probe)
    health.abandoned(probe)
    throw error
  } finally {
    requests.ended(startedAt)
  }
  await judge(outlet, answered, ctx.attempt, probe)
}

/** A destination has a handler for each source and pattern; the limit is for all of them. */
function turnMs({ destination: { concurrency }, requests, now }: Outlet): number | null {
  return requests.active >= concurrency ? requests.nextTurnMs(now(), concurrency) : null
}

async function request(
  { destination, lookup, now }: Outlet,
  event: HandledEvent,
  { attempt, signal }: HandlerContext,
): Promise<Answered> {
  const { url, what, timeoutMs, allow, ca } = destination
  const headers = await headersFor(destination, event, attempt, now())
  return send({ what, url, headers, body: event.slice, timeoutMs, allow, ca, lookup, signal })
}

async function judge(
  outlet: Outlet,
  { httpStatus, retryAfterMs }: Answered,
  attempt: number,
  probe: boolean,
): Promise<void> {
  const { destination, health, now } = outlet
  outlet.lastHttpStatus = httpStatus
  if (httpStatus >= 200 && httpStatus < 300) {
    outlet.counts.sent++
    outlet.lastSentAt = now()
    health.succeeded()
    return
  }
  const { what } = destination
  const failure = (problem: string) => new HookonceError('DESTINATION_FAILED', { what, problem })
  if (httpStatus === 410) {
    const gone = failure('it answered 410, it is gone')
    failed(outlet, gone, attempt, probe)
    await outlet.gone()
    throw permanent(gone)
  }
  const askedMs = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  // The answer concerns the endpoint and not this event, so other events wait as well.
  if (askedMs > 0 && (httpStatus === 429 || httpStatus === 503)) health.quietUntil(now() + askedMs)
  const isRedirect = httpStatus >= 300 && httpStatus < 400
  const text = isRedirect ? `${httpStatus}, and redirects are not followed` : httpStatus
  throw failed(outlet, failure(`it answered ${text}`), attempt, probe, askedMs)
}

/** A failed probe is not the fault of its event: it waits like the others, and its attempt does not count. */
function failed(outlet: Outlet, error: HookonceError, attempt: number, probe: boolean, askedMs = 0): Error {
  const { destination, health, now } = outlet
  outlet.counts.failed++
  outlet.lastFailedAt = now()
  outlet.lastProblem = error.message
  health.failed(now(), probe)
  if (probe) return postpone(health.waitMs(now()) ?? destination.probeEveryMs, error)
  if (askedMs === 0) return error
  return retryAfter(Math.max(askedMs, retryDelayMs(destination.retry, attempt) ?? 0), error)
}
