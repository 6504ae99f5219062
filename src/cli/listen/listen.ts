/**
 * `hookonce listen`: what the log records is passed on to an app on this machine, in order, each position once. How far
 * it has come is on disk before the next event goes out, so nothing is skipped when the app or the listener was away.
 */
import { makeFolder } from '../dev/folder.js'
import { newestPosition, positionBefore } from '../events/events.js'
import { matcher } from '../events/match.js'
import type { EventLog, EventView } from '../log/event-log.js'
import { keyOf } from '../log/find.js'
import { pause } from '../log/store-log.js'
import type { Output } from '../output.js'
import { createPoster, type Poster, whyNoAnswer } from '../post.js'
import { openCursor } from './cursor.js'
import { type Keys, readKeys } from './keys.js'
import { createSigner, type Signer, targetOf } from './signer.js'
import { type PassedOn, passedOnLine } from './words.js'

export interface ListenOptions {
  readonly source?: string
  readonly filter?: string
  readonly since?: number
  readonly secret?: string
}

interface Listener {
  readonly output: Output
  readonly log: EventLog
  readonly signer: Signer
  readonly poster: Poster
  readonly urlOf: (source: string) => string
  readonly signal: AbortSignal
}

/** A proxy in front of an app that is away says so with these. */
const awayStatuses = [502, 503, 504]

export async function listen(
  output: Output,
  log: EventLog,
  target: string,
  options: ListenOptions,
): Promise<number> {
  const urlOf = targetOf(target)
  const { source, filter } = options
  const matches = matcher(filter === undefined ? {} : { type: filter })
  makeFolder()
  const cursor = openCursor({ log: log.name, target: urlOf('<source>'), source, filter })
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
  const { signal } = stop
  const listener: Listener = {
    output,
    log,
    urlOf,
    signal,
    poster: createPoster(1),
    signer: await createSigner(log, options.secret),
  }
  const resumed = options.since === undefined && cursor.position !== null
  const after = resumed ? cursor.position! : await startOf(log, options.since)
  // Also before the first event: what comes while the listener is away is not lost.
  cursor.move(after)
  sayStart(listener, resumed)
  const keys: Keys = readKeys(listener, () => stop.abort())
  let earlier: Sent | null = null
  try {
    for await (const { events, position, gap } of log.follow({
      after,
      signal,
      ...(source ? { source } : {}),
    })) {
      if (gap) sayGap(output)
      for (const event of events) {
        if (signal.aborted) break
        const passed: Passed | null = matches(event) ? await passOn(listener, event, earlier, keys) : null
        if (signal.aborted) break
        // On disk before it is told: who has seen the line will not see the event again.
        cursor.move(event.seq)
        if (passed?.what) tell(output, event, passed.what)
        earlier = passed?.sent ?? earlier
      }
      if (!signal.aborted && position > (cursor.position ?? 0)) cursor.move(position)
    }
  } finally {
    keys.close()
    listener.poster.close()
  }
  output.say(`stopped; hookonce listen ${target} continues from here`)
  return 0
}

function startOf(log: EventLog, since: number | undefined): Promise<number> {
  return since === undefined ? newestPosition(log) : positionBefore(log, since)
}

export interface Sent {
  readonly event: EventView
  readonly bytes: Buffer
  readonly part: number
}

type What = Pick<PassedOn, 'verdict' | 'httpStatus' | 'ms'>

interface Passed {
  readonly sent: Sent | null
  /** What there is to tell; null when it went with the event before it. */
  readonly what: What | null
}

/** Until the app has answered, or the listener is told to stop. */
async function passOn(
  listener: Listener,
  event: EventView,
  earlier: Sent | null,
  keys: Keys,
): Promise<Passed | null> {
  const payload = await listener.log.payload(keyOf(event), 'listen')
  if (payload === null)
    return { sent: null, what: { verdict: 'its payload has been removed', httpStatus: null, ms: null } }
  const sent: Sent = { event, bytes: Buffer.from(payload.body), part: payload.part }
  // Events of one delivery came in one body, and the app gets that body once.
  if (earlier && isSameDelivery(earlier, sent)) return { sent, what: null }
  if (listener.signer.sourceOf(event.source) === null)
    listener.output.say(`the provider of "${event.source}" is unknown here: forwarded without a signature`)
  const answer = await answered(listener, event, payload)
  if (answer === null) return null
  keys.remember(event, payload)
  return { sent, what: { verdict: answer.httpStatus < 300 ? 'passed on' : 'answered', ...answer } }
}

function isSameDelivery(earlier: Sent, now: Sent): boolean {
  return (
    now.part > earlier.part &&
    now.event.source === earlier.event.source &&
    now.event.receivedAt === earlier.event.receivedAt &&
    now.bytes.equals(earlier.bytes)
  )
}

/** Tries again, ever more slowly, while the app is away. Null: told to stop. */
async function answered(
  listener: Listener,
  event: EventView,
  payload: NonNullable<Awaited<ReturnType<EventLog['payload']>>>,
): Promise<{ httpStatus: number; ms: number } | null> {
  const { signal, output, poster, signer, urlOf } = listener
  for (let tries = 0; !signal.aborted; tries++) {
    const delivery = await signer.sign(event, payload, urlOf(event.source))
    let away: string
    try {
      const { httpStatus, ms } = await poster.post(delivery)
      if (!awayStatuses.includes(httpStatus)) return { httpStatus, ms: Math.round(ms * 10) / 10 }
      away = `it answered ${httpStatus}`
    } catch (error) {
      away = whyNoAnswer(error)
    }
    if (tries === 0) sayAway(output, delivery.url, away)
    await pause(Math.min(5_000, 250 * 2 ** tries), signal)
  }
  return null
}

function tell(output: Output, event: EventView, what: What): void {
  const { seq, source, id, type } = event
  const line: PassedOn = { kind: 'event', at: new Date().toISOString(), seq, source, type, id, ...what }
  output.result(line, (paint) => passedOnLine(line, paint))
}

function sayStart({ output, log, urlOf, signal: _ }: Listener, resumed: boolean): void {
  output.say(
    `listening to ${log.name}, forwarding to ${decodeURI(urlOf('<source>'))}${resumed ? '; continuing where it stopped' : ''}`,
  )
}

function sayAway(output: Output, url: string, why: string): void {
  if (output.json) output.result({ kind: 'waiting', url, why }, () => '')
  else output.say(`${url} is down (${why}): waiting for it, no event is skipped`)
}

function sayGap(output: Output): void {
  if (output.json) output.result({ kind: 'gap' }, () => '')
  else output.say('GAP: retention has removed events before they were forwarded')
}
