/**
 * The spine of intake: one delivery, step by step, each with its way out. Nothing is stored before `verify`; nothing
 * is acknowledged before `record` has committed.
 */
import type { Clock } from '../clock.js'
import {
  type Counters,
  countRejected,
  countStoreError,
  type SourceCounters,
  UNKNOWN_SOURCE,
} from '../counters.js'
import { isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { RepeatedLines } from '../log-repeats.js'
import type { EventKey, NewDelivery, RecordVerdict } from '../model.js'
import type { Delivery, IdentifiedEvent, Source } from '../provider.js'
import type { ReceiveSpan, Tracing } from '../tracing.js'
import {
  earlyRefusal,
  handledAnswer,
  handshakeAnswer,
  type InlineStatus,
  type Receipt,
  recordedAnswer,
  rejected,
  spooledAnswer,
  storedId,
} from './answer.js'
import type { GroupCommit, Recording } from './group-commit.js'
import { asNewDelivery } from './new-delivery.js'
import { type EarlyRefusal, type IntakeLimits, refuse } from './receive.js'

/** What processing does for intake. */
export interface AfterRecord {
  /** Something new is in the log. */
  recorded(): void
  /** Handles the event inside this request. */
  inline(key: EventKey, verdict: RecordVerdict): Promise<InlineStatus>
  /** Gives a dead letter a new start, because its sender delivered it again. */
  rearm(key: EventKey): Promise<void>
  /** The lane of an event whose source or handler wants order; null = none. */
  laneOf(source: string, event: IdentifiedEvent): string | null
}

/** What remembers keys that are in the log (`src/seen/recall.ts`). */
export interface SeenBefore {
  ask(source: Source, delivery: NewDelivery): Promise<RecordVerdict[] | null>
  keep(source: Source, delivery: NewDelivery, verdicts: readonly RecordVerdict[]): void
}

export interface IntakeDeps {
  readonly sources: ReadonlyMap<string, Source>
  readonly commits: GroupCommit
  readonly seen: SeenBefore | null
  readonly limits: IntakeLimits
  readonly clock: Clock
  readonly log: Logger
  /** For lines that anybody can cause. */
  readonly repeats: RepeatedLines
  readonly counters: Counters
  readonly after: AfterRecord
  readonly tracing: Tracing | null
}

export function intake(parts: IntakeDeps, name: string, delivery: Delivery): Promise<Receipt> {
  const source = parts.sources.has(name) ? name : UNKNOWN_SOURCE
  const span = parts.tracing?.receive(source, delivery.headers)
  return span ? traced(parts, name, delivery, span) : take(parts, name, delivery, null)
}

async function traced(
  parts: IntakeDeps,
  name: string,
  delivery: Delivery,
  span: ReceiveSpan,
): Promise<Receipt> {
  let receipt: Receipt | null = null
  try {
    receipt = await span.within(() => take(parts, name, delivery, span))
    return receipt
  } finally {
    span.end(receipt)
  }
}

async function take(
  parts: IntakeDeps,
  name: string,
  delivery: Delivery,
  span: ReceiveSpan | null,
): Promise<Receipt> {
  const source = parts.sources.get(name)
  const counters = parts.counters.of(source ? name : UNKNOWN_SOURCE)
  const startedAt = performance.now()
  counters.received++
  if (!source) return reject(parts, counters, UNKNOWN_SOURCE, 'receive', earlyRefusal('unknown_source'))

  const refusal = refuse(delivery, parts.limits)
  if (refusal) return reject(parts, counters, name, 'receive', earlyRefusal(refusal))

  const now = parts.clock.now()
  const reply = source.handshake(delivery, { now })
  if (reply) {
    counters.handshakes++
    return handshakeAnswer(reply)
  }
  if (delivery.method !== 'POST') return reject(parts, counters, name, 'receive', earlyRefusal('method'))

  const verification = await source.verify(delivery, { now })
  if (!verification.ok) {
    const { reason } = verification
    // A key server that cannot be reached is an outage of ours: 401 would make the sender give up.
    const answer = reason === 'key_unavailable' ? unavailable(reason) : rejected(401, reason)
    return reject(parts, counters, name, 'verify', answer)
  }

  const events = source.identify(delivery)
  if (events.length === 0)
    return reject(parts, counters, name, 'identify', rejected(400, 'no_event_id', 'invalid'))

  const ids = events.map((event) => event.id)
  const kept = span ? { ...delivery, headers: { ...delivery.headers, ...span.carried } } : delivery
  const fresh = asNewDelivery(name, source, kept, events, parts.after.laneOf)
  span?.identified(events)
  const known = (await parts.seen?.ask(source, fresh)) ?? null
  let verdicts: Recording
  try {
    verdicts =
      known ?? (await (span ? span.record(() => parts.commits.record(fresh)) : parts.commits.record(fresh)))
  } catch (error) {
    return reject(parts, counters, name, 'record', unavailable(countStoreError(parts.counters, error)))
  }
  if (verdicts === 'spooled') {
    counters.spooled++
    counters.ackSeconds.observe((performance.now() - startedAt) / 1_000)
    return spooledAnswer(source, ids)
  }

  if (!known) parts.seen?.keep(source, fresh, verdicts)
  const stored = countVerdicts(parts, name, ids, verdicts)
  const receipt = recordedAnswer(source, stored, verdicts)
  if (receipt.httpStatus >= 400) return reject(parts, counters, name, 'record', receipt)
  let answer = receipt
  if (source.mode === 'inline')
    answer = handledAnswer(source, receipt, await inline(parts, name, stored, verdicts))
  else await background(parts, name, source, stored, verdicts)
  if (answer.httpStatus < 400) counters.ackSeconds.observe((performance.now() - startedAt) / 1_000)
  else countRejected(counters, answer.reason ?? answer.status)
  return answer
}

/** Counts, logs and answers what was turned away before it became a delivery. */
export function refusedEarly(
  parts: Pick<IntakeDeps, 'sources' | 'counters' | 'repeats'>,
  name: string | null,
  refusal: EarlyRefusal,
): Receipt {
  const source = name !== null && parts.sources.has(name) ? name : UNKNOWN_SOURCE
  const counters = parts.counters.of(source)
  counters.received++
  return reject(parts, counters, source, 'receive', earlyRefusal(refusal))
}

function inline(
  parts: IntakeDeps,
  source: string,
  ids: readonly string[],
  verdicts: readonly RecordVerdict[],
) {
  return Promise.all(
    ids.map((eventId, i) =>
      handleInline(parts, { source, eventId }, verdicts[i]!).catch((error: unknown): InlineStatus => {
        parts.log.error(
          { source, eventId, step: 'handle', code: codeOf(error) },
          'could not be handled in the request',
        )
        return 'unknown'
      }),
    ),
  )
}

async function handleInline(parts: IntakeDeps, key: EventKey, verdict: RecordVerdict): Promise<InlineStatus> {
  return verdict.status === 'retired' ? 'already_processed' : parts.after.inline(key, verdict)
}

async function background(
  parts: IntakeDeps,
  name: string,
  source: Source,
  ids: readonly string[],
  verdicts: readonly RecordVerdict[],
): Promise<void> {
  if (verdicts.some((verdict) => verdict.status === 'recorded')) parts.after.recorded()
  if (!source.rearm) return
  for (const [i, verdict] of verdicts.entries()) {
    if (verdict.status !== 'duplicate' || verdict.state !== 'failed' || !verdict.final) continue
    const key = { source: name, eventId: ids[i]! }
    // It is in the log whatever happens here; the sender is not asked to come back for this.
    await parts.after.rearm(key).catch((error: unknown) => {
      parts.log.error({ ...key, step: 'record', code: codeOf(error) }, 'dead letter not given a new start')
    })
  }
}

function codeOf(error: unknown): string {
  return isHookonceError(error) ? error.code : 'UNEXPECTED'
}

function reject(
  parts: Pick<IntakeDeps, 'repeats'>,
  counters: SourceCounters,
  source: string,
  step: string,
  receipt: Receipt,
): Receipt {
  const reason = receipt.reason ?? receipt.status
  countRejected(counters, reason)
  parts.repeats.warn({ source, step, reason, httpStatus: receipt.httpStatus }, 'delivery rejected')
  return receipt
}

/** Whatever stopped the commit or kept the key away, the sender must come back: an answer below 500 would make it give up. */
function unavailable(code: string): Receipt {
  return rejected(503, code, 'unavailable')
}

/** Counts what record found, at once or when the spool was drained, and answers the ids the events have in the log. */
export function countVerdicts(
  parts: Pick<IntakeDeps, 'counters' | 'log'>,
  source: string,
  ids: readonly string[],
  verdicts: readonly RecordVerdict[],
): string[] {
  const counters = parts.counters.of(source)
  return verdicts.map((verdict, i) => {
    const eventId = storedId(ids[i]!, verdict)
    if (verdict.status === 'recorded') countRecorded(parts, counters, { source, eventId }, ids[i]!, verdict)
    if (verdict.status === 'replayed') counters.replayed++
    if (verdict.status === 'retired') counters.retired++
    if (verdict.status !== 'duplicate') return eventId
    counters.duplicates++
    if (verdict.equal) return eventId
    counters.conflicts++
    parts.log.warn({ source, step: 'record', eventId, reason: 'conflict' }, 'known id with other bytes')
    return eventId
  })
}

function countRecorded(
  { log }: Pick<IntakeDeps, 'log'>,
  counters: SourceCounters,
  key: EventKey,
  deliveredAs: string,
  { state, sameAs, storedAs }: Extract<RecordVerdict, { status: 'recorded' }>,
): void {
  counters.recorded++
  if (storedAs !== undefined) {
    counters.contested++
    log.warn({ ...key, step: 'record', contests: deliveredAs }, 'contested id: kept under one of its own')
  }
  if (sameAs === undefined) return
  if (state === 'ignored') {
    counters.replayed++
    log.warn({ ...key, step: 'record', reason: 'replayed_content' }, 'event put on the review list')
  } else {
    counters.flagged++
    // A sender that repeats itself is normal: the first line of a run says so, the metric counts the rest.
    if (isTurn(counters.flagged))
      log.warn({ ...key, step: 'record', sameAs }, 'same signed content as another event')
  }
}

/** The 1st, 2nd, 4th, 8th ... time: a line for each would let a sender fill the log. */
function isTurn(times: number): boolean {
  return (times & (times - 1)) === 0
}
