import { pause } from '../command.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { type Output, streamLine } from '../output.js'
import { type Poster, whyNoAnswer } from '../post.js'
import type { Signer } from './signer.js'

export interface Listener {
  readonly output: Output
  readonly log: EventLog
  readonly signer: Signer
  readonly poster: Poster
  readonly urlOf: (source: string) => string
  readonly signal: AbortSignal
}

/** A proxy in front of an app that is down answers with these. */
const downStatuses = [502, 503, 504]

export interface Forwarded {
  readonly event: EventView
  readonly bytes: Buffer
  readonly part: number
}

interface ForwardResult {
  readonly verdict: string
  readonly httpStatus: number | null
  readonly ms: number | null
}

export interface ForwardOutcome {
  readonly forwarded: Forwarded | null
  /** Null when the body of the event before it held this event too. */
  readonly result: ForwardResult | null
}

/** Waits until the app answers. Null when the listener is stopped first. */
export async function forwardEvent(
  listener: Listener,
  event: EventView,
  previous: Forwarded | null,
): Promise<ForwardOutcome | null> {
  const [payload] = await listener.log.payloads([event], 'listen')
  if (!payload)
    return {
      forwarded: null,
      result: { verdict: 'its payload has been removed', httpStatus: null, ms: null },
    }
  const forwarded: Forwarded = { event, bytes: Buffer.from(payload.body), part: payload.part }
  // Several events can be in one delivery. The app receives its body once.
  if (previous && isSameDelivery(previous, forwarded)) return { forwarded, result: null }
  if (listener.signer.sourceOf(event.source) === null)
    listener.output.say(`the provider of "${event.source}" is unknown here: forwarded without a signature`)
  const answer = await postUntilAnswered(listener, event, payload)
  if (answer === null) return null
  return { forwarded, result: { verdict: answer.httpStatus < 300 ? 'passed on' : 'answered', ...answer } }
}

function isSameDelivery(previous: Forwarded, next: Forwarded): boolean {
  return (
    next.part > previous.part &&
    next.event.source === previous.event.source &&
    next.event.receivedAt === previous.event.receivedAt &&
    next.bytes.equals(previous.bytes)
  )
}

async function postUntilAnswered(
  listener: Listener,
  event: EventView,
  payload: PayloadView,
): Promise<{ httpStatus: number; ms: number } | null> {
  const { signal, output, poster, signer, urlOf } = listener
  for (let tries = 0; !signal.aborted; tries++) {
    const delivery = await signer.sign(event, payload, urlOf(event.source))
    let problem: string
    try {
      const { httpStatus, ms } = await poster.post(delivery)
      if (!downStatuses.includes(httpStatus)) return { httpStatus, ms: Math.round(ms * 10) / 10 }
      problem = `it answered ${httpStatus}`
    } catch (error) {
      problem = whyNoAnswer(error)
    }
    if (tries === 0) sayDown(output, delivery.url, problem)
    await pause(Math.min(5_000, 250 * 2 ** tries), signal)
  }
  return null
}

function sayDown(output: Output, url: string, why: string): void {
  if (output.json) output.result({ kind: 'waiting', url, why }, () => '')
  else output.say(`${url} is down (${why}): waiting for it, no event is skipped`)
}

export function printForwarded(output: Output, event: EventView, result: ForwardResult): void {
  const { seq, source, id, type } = event
  const { verdict, httpStatus, ms } = result
  const at = new Date().toISOString()
  output.result({ kind: 'event', at, seq, source, type, id, ...result }, (paint) => {
    const answer =
      httpStatus === null
        ? paint('yellow', verdict)
        : paint(httpStatus < 300 ? 'green' : 'yellow', `${httpStatus}`)
    const took = ms === null ? [] : [paint('dim', `${ms} ms`)]
    return streamLine(paint, [at.slice(11, 19), source, type, id], answer, ...took)
  })
}
