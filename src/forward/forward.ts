/**
 * Sends one event to all its destinations. Each destination is a separate effect: one that has received the event does
 * not get it again when another one fails. While the event is being sent to another destination, it waits for a busy
 * one; after that it comes back later. So a slow destination does not hold up the others.
 */
import { setMaxListeners } from 'node:events'
import { HookonceError, isHookonceError } from '../errors.js'
import { permanent, postpone, retryAfter, retryDelayMs } from '../processing/failure.js'
import type { HandledEvent, HandlerContext } from '../processing/handler.js'
import type { CheckedDestination } from './destination.js'
import type { Lookup } from './guard.js'
import type { Health, RateLimit, Requests } from './health.js'
import { send } from './send.js'
import { headersFor } from './sign.js'

export interface Outlet {
  readonly destination: CheckedDestination
  readonly health: Health
  readonly rate: RateLimit | null
  readonly requests: Requests
  readonly crowd: Crowd
  readonly lookup: Lookup | undefined
  readonly now: () => number
  readonly counts: { sent: number; failed: number; postponed: number }
  lastHttpStatus: number | null
  lastSentAt: number | null
  lastFailedAt: number | null
  lastProblem: string | null
}

export interface Crowd {
  readonly destinations: number
  readonly places: number
  sending: number
  readonly onEnd: Set<() => void>
}

/** Requests of one event, without those that wait for a busy destination. */
interface Round {
  running: number
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
/** Delay of an event when one destination waits and the attempts of the others are used up. */
const USED_UP_DELAY_MS = 5 * 60_000

export async function forward(
  outlets: readonly Outlet[],
  event: HandledEvent,
  ctx: HandlerContext,
): Promise<void> {
  const crowd = outlets[0]?.crowd
  if (!crowd) return
  crowd.sending++
  try {
    await sendToAll(outlets, event, ctx)
  } finally {
    crowd.sending--
  }
}

async function sendToAll(
  outlets: readonly Outlet[],
  event: HandledEvent,
  ctx: HandlerContext,
): Promise<void> {
  if (outlets.length === 1) {
    // Postpones without recording an effect.
    const { health, counts, now } = outlets[0]!
    const waitMs = health.waitMs(now())
    if (waitMs !== null) {
      counts.postponed++
      throw postpone(waitMs)
    }
  }
  // Each request listens to the signal, and Node would warn of a leak.
  setMaxListeners(outlets.length + 10, ctx.signal)
  const round: Round = { running: outlets.length }
  const settled = await Promise.allSettled(
    outlets.map((outlet) =>
      sendOnce(outlet, event, ctx, round).finally(() => {
        round.running--
        requestEnded(outlet.crowd)
      }),
    ),
  )
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

/** A replay sends again, with the same webhook-id, so each run has its own effect. */
async function sendOnce(
  outlet: Outlet,
  event: HandledEvent,
  ctx: HandlerContext,
  round: Round,
): Promise<Sending> {
  const { name } = outlet.destination
  try {
    await ctx.once(ctx.run === 1 ? `forward:${name}` : `forward:${name}:${ctx.run}`, async () => {
      const sending = await sendTo(outlet, event, ctx, round)
      if (sending.kind !== 'sent') throw new NotSent(sending)
      return outlet.lastHttpStatus
    })
    return { kind: 'sent' }
  } catch (error) {
    if (error instanceof NotSent) return error.sending
    throw error
  }
}

async function sendTo(
  outlet: Outlet,
  event: HandledEvent,
  ctx: HandlerContext,
  round: Round,
): Promise<Sending> {
  const { destination, health, rate, requests, crowd, now } = outlet
  if (isBusy(outlet)) {
    round.running--
    requestEnded(crowd)
    // No other event may take the slot between the end of this wait and `began`.
    while (isBusy(outlet) && round.running > 0) await new Promise<void>((resolve) => crowd.onEnd.add(resolve))
    round.running++
  }
  const turnMs = () => (isBusy(outlet) ? requests.nextTurnMs(now(), destination.concurrency) : null)
  const waitMs = health.waitMs(now()) ?? turnMs() ?? rate?.take(now()) ?? null
  if (waitMs !== null) {
    outlet.counts.postponed++
    return { kind: 'postponed', waitMs }
  }
  const probe = health.begin()
  requests.began()
  const startedAt = performance.now()
  try {
    const headers = await headersFor(destination, event, ctx.attempt, now())
    const { url, what, timeoutMs, allow, ca } = destination
    const answered = await send({
      what,
      url,
      headers,
      body: event.slice,
      timeoutMs,
      allow,
      ca,
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
    requests.ended(startedAt)
  }
}

function requestEnded({ onEnd }: Crowd): void {
  const waiting = [...onEnd]
  onEnd.clear()
  for (const resume of waiting) resume()
}

/** When places run short, a destination holds no more than an equal part of them. */
function isBusy({ destination, requests: { active }, crowd }: Outlet): boolean {
  const share = Math.max(1, Math.floor(crowd.places / crowd.destinations))
  return active >= destination.concurrency || (crowd.sending > crowd.places / 2 && active >= share)
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

/** A failed probe is not the fault of its event: it waits like the others, and its attempt does not count. */
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
