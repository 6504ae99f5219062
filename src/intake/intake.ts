/**
 * The spine of intake: one delivery, step by step, each with its way out. Nothing is stored before `verify`; nothing
 * is acknowledged before `record` has committed.
 */
import type { Clock } from '../clock.js'
import { isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { RecordVerdict } from '../model.js'
import type { Delivery, IdentifiedEvent, Source } from '../provider.js'
import { handshakeAnswer, type Receipt, recordedAnswer, refusedAtDoor, rejected } from './answer.js'
import { type Counters, countRejected, type SourceCounters, UNKNOWN_SOURCE } from './counters.js'
import { asNewDelivery } from './identify.js'
import { type IntakeLimits, refuse } from './receive.js'
import type { GroupCommit } from './record.js'

export interface IntakeParts {
  readonly sources: ReadonlyMap<string, Source>
  readonly commits: GroupCommit
  readonly limits: IntakeLimits
  readonly clock: Clock
  readonly log: Logger
  readonly counters: Counters
}

export async function intake(parts: IntakeParts, name: string, delivery: Delivery): Promise<Receipt> {
  const source = parts.sources.get(name)
  const counters = parts.counters.of(source ? name : UNKNOWN_SOURCE)
  counters.received++
  if (!source) return reject(parts, counters, UNKNOWN_SOURCE, 'receive', rejected(404, 'unknown_source'))

  const refusal = refuse(delivery, parts.limits)
  if (refusal) return reject(parts, counters, name, 'receive', refusedAtDoor(refusal))

  const now = parts.clock.now()
  const reply = source.handshake(delivery, { now })
  if (reply) {
    counters.handshakes++
    return handshakeAnswer(reply)
  }
  if (delivery.method !== 'POST') return reject(parts, counters, name, 'receive', refusedAtDoor('method'))

  const verification = await source.verify(delivery, { now })
  if (!verification.ok) return reject(parts, counters, name, 'verify', rejected(401, verification.reason))

  const events = source.identify(delivery)
  if (events.length === 0)
    return reject(parts, counters, name, 'identify', rejected(400, 'no_event_id', 'invalid'))

  let verdicts: RecordVerdict[]
  try {
    verdicts = await parts.commits.record(asNewDelivery(name, source, delivery, events))
  } catch (error) {
    return reject(parts, counters, name, 'record', unavailable(error))
  }

  count(parts, counters, name, events, verdicts)
  const receipt = recordedAnswer(
    source,
    events.map((event) => event.id),
    verdicts,
  )
  return receipt.httpStatus < 400 ? receipt : reject(parts, counters, name, 'record', receipt)
}

function reject(
  parts: IntakeParts,
  counters: SourceCounters,
  source: string,
  step: string,
  receipt: Receipt,
): Receipt {
  const reason = receipt.reason ?? receipt.status
  countRejected(counters, reason)
  parts.log.warn({ source, step, reason, httpStatus: receipt.httpStatus }, 'delivery rejected')
  return receipt
}

/** Whatever stopped the commit, the sender must come back: an answer below 500 would make it give up. */
function unavailable(error: unknown): Receipt {
  return rejected(503, isHookonceError(error) ? error.code : 'UNEXPECTED', 'unavailable')
}

function count(
  parts: IntakeParts,
  counters: SourceCounters,
  source: string,
  events: readonly IdentifiedEvent[],
  verdicts: readonly RecordVerdict[],
): void {
  verdicts.forEach((verdict, i) => {
    if (verdict.status === 'recorded') {
      counters.recorded++
      if (verdict.state !== 'ignored') return
      counters.replayed++
      parts.log.warn(
        { source, step: 'record', eventId: events[i]!.id, reason: 'replayed_content' },
        'event put on the review list',
      )
    } else if (verdict.status === 'duplicate') {
      counters.duplicates++
      if (verdict.equal) return
      counters.conflicts++
      parts.log.warn(
        { source, step: 'record', eventId: events[i]!.id, reason: 'conflict' },
        'known id with other bytes',
      )
    } else if (verdict.status === 'replayed') {
      counters.replayed++
    }
  })
}
