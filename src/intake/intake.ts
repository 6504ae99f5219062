/**
 * Intake: the steps of one delivery. The first step that has an answer ends it.
 *
 *   receive   a source of that name, limits, handshake and method
 *   verify    the signature, over the received bytes
 *   identify  the events in it
 *   record    in the log, or in the spool while the store is away. The first delivery opens the store
 *   handle    inside this request (inline mode); otherwise the workers are woken
 *
 * Nothing is stored before `verify`, and nothing is acknowledged before it is durable. `observer.ts` counts and logs.
 */
import type { Clock } from '../clock.js'
import { limits, type RecordVerdict } from '../model.js'
import type { Delivery, IdentifiedEvent, Source, Verification } from '../provider.js'
import type { Recorder, Recording } from '../recorder.js'
import type { ReceiveSpan, Tracing } from '../tracing.js'
import { type AfterRecord, handleInRequest, rearmDeadLetters } from './after-record.js'
import {
  earlyAnswer,
  failureAnswer,
  handledAnswer,
  handshakeAnswer,
  notHandledAnswer,
  type Receipt,
  recordedAnswer,
  spooledAnswer,
} from './answer.js'
import { newDelivery } from './new-delivery.js'
import type { IntakeObserver } from './observer.js'
import { type IntakeLimits, refuse } from './receive.js'

export interface IntakeDeps {
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  readonly clock: Clock
  readonly recorder: Recorder
  readonly after: AfterRecord
  readonly observer: IntakeObserver
  readonly tracing: Tracing | null
}

export interface Answer {
  readonly step: 'receive' | 'verify' | 'identify' | 'record' | 'handle'
  readonly receipt: Receipt
}

export async function intake(deps: IntakeDeps, name: string, delivery: Delivery): Promise<Receipt> {
  const { observer } = deps
  const startedAt = performance.now()
  const counted = observer.received(name)
  const span = deps.tracing?.receive(counted, delivery.headers) ?? null
  let receipt: Receipt | null = null
  try {
    const answer = await (span
      ? span.within(() => take(deps, name, delivery, span))
      : take(deps, name, delivery, null))
    receipt = observer.answered(counted, answer, startedAt)
  } catch (error) {
    // A bug, most likely in a rule of the source. An adapter could not answer a rejection.
    receipt = observer.broken(counted, error)
  } finally {
    span?.end(receipt)
  }
  return receipt
}

async function take(
  deps: IntakeDeps,
  name: string,
  delivery: Delivery,
  span: ReceiveSpan | null,
): Promise<Answer> {
  const { observer, after } = deps
  const source = deps.sources.get(name)
  if (!source) return at('receive', earlyAnswer('unknown_source'))
  const now = deps.clock.now()
  const early = receive(source, delivery, deps.limits, now)
  if (early) return early
  const verification = source.verify(delivery, { now })
  // Most schemes are synchronous; an await would cost an extra microtask.
  const rejection = untrusted(verification instanceof Promise ? await verification : verification)
  if (rejection) return rejection

  const events = source.identify(delivery)
  if (events.length === 0) return at('identify', failureAnswer(400, 'no_event_id', 'invalid'))
  span?.identified(events)
  const ids = events.map((event) => event.id)

  for (const { id, references = [] } of events)
    if (references.length > limits.references) observer.referencesCut(name, id)
  const toRecord = newDelivery(name, source, delivery, events, after.laneOf, span?.carried)
  let recording: Recording
  try {
    recording = await deps.recorder.record(toRecord, source, span)
  } catch (error) {
    return at('record', failureAnswer(503, observer.storeFailed(name, error), 'unavailable'))
  }
  if (recording === 'spooled') {
    observer.spooled(name)
    const receipt = spooledAnswer(source, ids)
    // Inline mode without a worker in this process: perhaps only another delivery runs the events.
    const handledLater = source.mode !== 'inline' || after.handledLater()
    return handledLater ? at('record', receipt) : at('handle', notHandledAnswer(receipt))
  }
  observer.countVerdicts(name, ids, recording)
  return takeRecorded(deps, name, source, events, recording)
}

/** The events are in the log: wakes the workers, or handles them in the request. */
async function takeRecorded(
  deps: IntakeDeps,
  name: string,
  source: Source,
  events: readonly IdentifiedEvent[],
  recording: readonly RecordVerdict[],
): Promise<Answer> {
  const { after } = deps
  const ids = events.map((event) => event.id)
  if (recording.some(({ status }) => status === 'recorded'))
    after.recorded(source.mode !== 'inline' && recording.some(isLeft))
  const receipt = recordedAnswer(source, ids, recording)
  // The other events of a delivery with a conflict are in the log, and in inline mode only a delivery runs them.
  if (source.mode === 'inline' && (receipt.httpStatus < 400 || receipt.status === 'conflict')) {
    const outcomes = await handleInRequest(deps, source, name, events, recording)
    const answer = handledAnswer(source, receipt, outcomes)
    return at(answer === receipt ? 'record' : 'handle', answer)
  }
  if (receipt.httpStatus >= 400) return at('record', receipt)
  if (source.rearm) await rearmDeadLetters(deps, name, ids, recording)
  return at('record', receipt)
}

/** The method is checked last: some senders use GET for a handshake. */
function receive(source: Source, delivery: Delivery, limits: IntakeLimits, now: number): Answer | null {
  const refusal = refuse(delivery, limits)
  if (refusal) return at('receive', earlyAnswer(refusal))
  const reply = source.handshake(delivery, { now })
  if (reply) return at('receive', handshakeAnswer(reply))
  return delivery.method === 'POST' ? null : at('receive', earlyAnswer('method'))
}

function untrusted(verification: Verification): Answer | null {
  if (verification.ok) return null
  const { reason } = verification
  // A key server that cannot be reached is an outage on our side: after a 401 the sender would give up.
  return at(
    'verify',
    reason === 'key_unavailable' ? failureAnswer(503, reason, 'unavailable') : failureAnswer(401, reason),
  )
}

/** Nobody has leased it. */
function isLeft(verdict: RecordVerdict): boolean {
  return verdict.status === 'recorded' && verdict.leasedAt === undefined
}

function at(step: Answer['step'], receipt: Receipt): Answer {
  return { step, receipt }
}
