/**
 * Sends one event to all its destinations. Each destination is an effect of its own, so a destination that has received the
 * event does not get it again when another one fails.
 */
import { setMaxListeners } from 'node:events'
import { HookonceError, isHookonceError } from '../errors.js'
import { permanent, postpone, retryAfter, retryDelayMs } from '../processing/failure.js'
import type { HandledEvent, HandlerContext } from '../processing/handler.js'
import type { CheckedDestination } from './destination.js'
import type { Lookup } from './guard.js'
import type { Health, RateLimit } from './health.js'
import { send } from './send.js'
import { headersFor } from './sign.js'

/** A destination and its state in this process. */
export interface Outlet {
  readonly destination: CheckedDestination
  readonly health: Health
  readonly rate: RateLimit
  readonly lookup: Lookup | undefined
  readonly now: () => number
  active: number
  readonly counts: { sent: number; failed: number; postponed: number }
  lastHttpStatus: number | null
  lastSentAt: number | null
  lastFailedAt: number | null
  lastProblem: string | null
}

type Sending =
  | { readonly kind: 'sent' }
  | { readonly kind: 'postponed'; readonly waitMs: number }
  /** `retryMs` null: the attempts of this destination are used up. */
  | { readonly kind: 'failed'; readonly problem: string; readonly retryMs: number | null }

class NotSent extends Error {
  readonly sending: Sending
  constructor(sending: Sending) {
    super(sending.kind)
    this.sending = sending
  }
}

/** A longer Retry-After of an endpoint is cut to this. */
const MAX_RETRY_AFTER_MS = 60 * 60_000
const BUSY_MS = 500
/** Delay of an event when one destination waits and the attempts of the others are used up. */
const USED_UP_DELAY_MS = 5 * 60_000

export async function forward(
  outlets: readonly Outlet[],
  event: HandledEvent,
  ctx: HandlerContext,
): Promise<void> {
  if (outlets.length === 1) {
    // The only destination may not be tried now: postpone without recording an effect.
    const waitMs = outlets[0]!.health.waitMs(outlets[0]!.now())
    if (waitMs !== null) throw later(outlets[0]!, waitMs)
  }
  // Each request listens to the signal; Node would warn of a leak.
  setMaxListeners(outlets.length + 10, ctx.signal)
  const settled = await Promise.allSettled(outlets.map((outlet) => sendOnce(outlet, event, ctx)))
  const broken = settled.find((sending) => sending.status === 'rejected')
  if (broken) throw broken.reason
  const results = settled.flatMap((sending) => (sending.status === 'fulfilled' ? [sending.value] : []))
  const failed = results.filter((sending) => sending.kind === 'failed')
  const waits = results.flatMap((sending) => (sending.kind === 'postponed' ? [sending.waitMs] : []))
  if (failed.length === 0) {
    if (waits.length > 0) throw postpone(Math.min(...waits))
    return
  }
  const problems = failed.map(({ problem }) => problem).join('; ')
  const retries = failed.flatMap(({ retryMs }) => (retryMs === null ? [] : [retryMs]))
  if (retries.length > 0) throw retryAfter(Math.min(...retries, ...waits), problems)
  if (waits.length > 0) throw postpone(Math.max(USED_UP_DELAY_MS, Math.min(...waits)), problems)
  throw permanent(problems)
}

/** A replay sends again, with the same webhook-id, so each run has an effect of its own. */
async function sendOnce(outlet: Outlet, event: HandledEvent, ctx: HandlerContext): Promise<Sending> {
  const { name } = outlet.destination
  try {
    await ctx.once(ctx.run === 1 ? `forward:${name}` : `forward:${name}:${ctx.run}`, async () => {
      const sending = await sendTo(outlet, event, ctx)
      if (sending.kind !== 'sent') throw new NotSent(sending)
      return outlet.lastHttpStatus
    })
    return { kind: 'sent' }
  } catch (error) {
    if (error instanceof NotSent) return error.sending
    throw error
  }
}

async function sendTo(outlet: Outlet, event: HandledEvent, ctx: HandlerContext): Promise<Sending> {
  const { destination, health, rate, now } = outlet
  const waitMs =
    health.waitMs(now()) ??
    (outlet.active >= destination.concurrency ? BUSY_MS * (1 + Math.random()) : rate.take(now()))
  if (waitMs !== null) {
    outlet.counts.postponed++
    return { kind: 'postponed', waitMs }
  }
  const probe = health.begin(now())
  outlet.active++
  try {
    const headers = await headersFor(destination, event, ctx.attempt, now())
    const { url, what, timeoutMs, allow, ca } = destination
    const answered = await send({
      ...{ what, url, headers, body: event.raw, timeoutMs, allow, ca },
      lookup: outlet.lookup,
      signal: ctx.signal,
    })
    return resultOfAnswer(outlet, answered.httpStatus, answered.retryAfterMs, ctx.attempt, probe)
  } catch (error) {
    if (ctx.signal.aborted || !isHookonceError(error)) {
      health.abandoned(probe)
      throw error
    }
    return failed(outlet, error.message, ctx.attempt, probe, 0)
  } finally {
    outlet.active--
  }
}

function resultOfAnswer(
  outlet: Outlet,
  httpStatus: number,
  retryAfterMs: number | null,
  attempt: number,
  probe: boolean,
): Sending {
  const { destination, health } = outlet
  outlet.lastHttpStatus = httpStatus
  if (httpStatus >= 200 && httpStatus < 300) {
    outlet.counts.sent++
    outlet.lastSentAt = outlet.now()
    health.succeeded()
    return { kind: 'sent' }
  }
  const problem = (text: string) =>
    new HookonceError('DESTINATION_FAILED', { what: destination.what, problem: text }).message
  if (httpStatus === 410) {
    const gone = failed(outlet, problem('it answered 410, it is gone'), attempt, probe, 0)
    health.pause(outlet.now(), 'gone')
    return gone.kind === 'failed' ? { ...gone, retryMs: null } : gone
  }
  const askedMs = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  // The answer concerns the endpoint and not this event, so other events wait as well.
  if (askedMs > 0 && (httpStatus === 429 || httpStatus === 503)) health.quietUntil(outlet.now() + askedMs)
  const text =
    httpStatus >= 300 && httpStatus < 400 ? `${httpStatus}, and redirects are not followed` : httpStatus
  return failed(outlet, problem(`it answered ${text}`), attempt, probe, askedMs)
}

/** The event of a failed probe is not to blame: it waits like the others, and its attempt does not count. */
function failed(outlet: Outlet, problem: string, attempt: number, probe: boolean, askedMs: number): Sending {
  const { destination, health, now } = outlet
  outlet.counts.failed++
  outlet.lastFailedAt = now()
  outlet.lastProblem = problem
  health.failed(now(), probe)
  if (probe) return { kind: 'postponed', waitMs: health.waitMs(now()) ?? destination.probeEveryMs }
  const delayMs = retryDelayMs(destination.retry, attempt)
  return { kind: 'failed', problem, retryMs: delayMs === null ? null : Math.max(delayMs, askedMs) }
}

function later(outlet: Outlet, waitMs: number): Error {
  outlet.counts.postponed++
  return postpone(waitMs)
}
