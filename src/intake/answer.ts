import { type ErrorCode, errorTable } from '../errors.js'
import type { InlineEnd, RecordVerdict, Reply } from '../model.js'
import type { HandshakeReply, Source } from '../provider.js'
import type { EarlyRefusal } from './receive.js'

export type ReceiptStatus =
  | 'accepted'
  | 'processed'
  | 'already_processed'
  | 'already_received'
  | 'spooled'
  | 'conflict'
  | 'rejected'
  | 'invalid'
  | 'failed'
  | 'unavailable'
  | 'handshake'

export interface EventReceipt {
  readonly eventId: string
  readonly duplicate: boolean
}

export interface Receipt {
  readonly httpStatus: number
  readonly status: ReceiptStatus
  /** The id of the first event, if there is one. */
  readonly eventId: string | null
  /** True when every event of the delivery was known. */
  readonly duplicate: boolean
  /** Every event of the delivery, once it is identified. */
  readonly events: readonly EventReceipt[]
  /** For logs and callers. The answer to the sender does not give the reason of a rejection. */
  readonly reason: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The bytes to send when a handler has replied; `body` is their text. */
  readonly bytes?: Uint8Array
}

const JSON_HEADERS = { 'content-type': 'application/json' } as const
const rejectionHeaders: Readonly<Record<number, Receipt['headers']>> = {
  405: { ...JSON_HEADERS, allow: 'POST' },
  503: { ...JSON_HEADERS, 'retry-after': '5' },
}

export function failureAnswer(
  httpStatus: number,
  reason: string,
  status: ReceiptStatus = 'rejected',
): Receipt {
  return {
    httpStatus,
    status,
    eventId: null,
    duplicate: false,
    events: [],
    reason,
    headers: rejectionHeaders[httpStatus] ?? JSON_HEADERS,
    body: `{"status":"${status}"}`,
  }
}

const refusalStatus: Record<EarlyRefusal, number> = {
  unknown_source: 404,
  method: 405,
  timeout: 408,
  body_too_large: 413,
  content_encoding: 415,
  headers_too_large: 431,
  malformed_request: 400,
  overloaded: 503,
  aborted: 400,
}

export function earlyAnswer(refusal: EarlyRefusal): Receipt {
  return failureAnswer(refusalStatus[refusal], refusal, refusal === 'overloaded' ? 'unavailable' : 'rejected')
}

export function handshakeAnswer({ httpStatus, headers, body }: HandshakeReply): Receipt {
  const none = { eventId: null, duplicate: false, events: [], reason: null }
  return { httpStatus, status: 'handshake', ...none, headers, body }
}

export function recordedAnswer(
  source: Source,
  ids: readonly string[],
  verdicts: readonly RecordVerdict[],
): Receipt {
  const refusedVerdict = verdicts.find((verdict) => verdict.status === 'refused')
  if (refusedVerdict) return refusedAnswer(refusedVerdict.code)
  if (verdicts.every((verdict) => verdict.status === 'replayed'))
    return failureAnswer(409, 'replayed_content', 'conflict')
  const events = ids.map((eventId, i) => ({ eventId, duplicate: verdicts[i]!.status === 'duplicate' }))
  const duplicate = events.every((event) => event.duplicate)
  const inConflict = verdicts.some((verdict) => verdict.status === 'duplicate' && !verdict.equal)
  if (inConflict && source.conflict === 'reject') {
    return { ...failureAnswer(409, 'conflict', 'conflict'), eventId: ids[0]!, duplicate, events }
  }
  const status = !duplicate
    ? 'accepted'
    : verdicts.every(isFinished)
      ? 'already_processed'
      : 'already_received'
  return acceptedAnswer(source, 200, status, events, duplicate)
}

/** Most senders give up after a 400, so it is the answer only when the delivery is to blame. */
function refusedAnswer(code: ErrorCode): Receipt {
  return errorTable[code].httpStatus < 500
    ? failureAnswer(400, code, 'invalid')
    : failureAnswer(503, code, 'unavailable')
}

/** Nothing is known of duplicates: they are found when the spool is drained. */
export function spooledAnswer(source: Source, ids: readonly string[]): Receipt {
  const events = ids.map((eventId) => ({ eventId, duplicate: false }))
  return acceptedAnswer(source, 202, 'spooled', events, false)
}

function acceptedAnswer(
  { answer }: Source,
  httpStatus: number,
  status: ReceiptStatus,
  events: readonly EventReceipt[],
  duplicate: boolean,
): Receipt {
  return {
    httpStatus: answer.httpStatus ?? httpStatus,
    status,
    eventId: events[0]!.eventId,
    duplicate,
    events,
    reason: null,
    headers: answer.contentType ? { 'content-type': answer.contentType } : JSON_HEADERS,
    body: answer.body ?? answerBody(status, events, duplicate),
  }
}

/** Inline mode answers for the worst of the events, because the sender can only send all of them again. */
export function handledAnswer(source: Source, receipt: Receipt, ends: readonly InlineEnd[]): Receipt {
  const { eventId, duplicate, events } = receipt
  const outcomes = ends.map((end) => end.status)
  if (outcomes.includes('failed'))
    return { ...failureAnswer(500, 'handler_failed', 'failed'), eventId, duplicate, events }
  if (outcomes.includes('unknown'))
    return { ...failureAnswer(503, 'outcome_unknown', 'unavailable'), eventId, duplicate, events }
  if (outcomes.includes('not_handled')) return notHandledAnswer(receipt)
  if (receipt.status === 'conflict') return receipt
  const status = outcomes.includes('already_received')
    ? 'already_received'
    : outcomes.includes('processed')
      ? 'processed'
      : 'already_processed'
  // Several events have one answer together, so it cannot be the reply of one of them.
  const reply = ends.length === 1 ? ends[0]!.reply : null
  if (reply) return { ...receipt, status, ...replyAnswer(reply) }
  return { ...receipt, status, body: source.answer.body ?? answerBody(status, events, duplicate) }
}

function replyAnswer({ httpStatus, headers, body: bytes }: Reply) {
  return { httpStatus, headers, body: new TextDecoder().decode(bytes), bytes }
}

/** The delivery is durable, and its sender must come back for its events to be handled. */
export function notHandledAnswer({ eventId, duplicate, events }: Receipt): Receipt {
  return { ...failureAnswer(503, 'not_handled', 'unavailable'), eventId, duplicate, events }
}

/** A dead letter is not finished: an operator will look at it. */
function isFinished(verdict: RecordVerdict): boolean {
  return verdict.status === 'duplicate' && (verdict.state === 'succeeded' || verdict.state === 'ignored')
}

function answerBody(status: ReceiptStatus, events: readonly EventReceipt[], duplicate: boolean): string {
  const several =
    events.length > 1 ? { events: events.map((e) => ({ event_id: e.eventId, duplicate: e.duplicate })) } : {}
  return JSON.stringify({ status, event_id: events[0]!.eventId, duplicate, ...several })
}
