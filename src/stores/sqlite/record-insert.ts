/**
 * A plain event (delivered alone, no guard, no lane) takes two short statements; its row in
 * `work` is written together with those of its neighbours, unless it is claimed. All other events take the long way.
 */
import { HookonceError } from '../../errors.js'
import { contentGuards, type RecordVerdict } from '../../model.js'
import { DROPPED, judge, newlyFound } from '../shared/judge.js'
import type { Connection } from './connection.js'
import { guardHolder, registerGuard } from './guards.js'
import { dueIn } from './lane.js'
import type { UnpackedDelivery, UnpackedEvent } from './pack.js'
import { known } from './record-known.js'
import { addReferences } from './references.js'
import { hourBook } from './stats.js'

export interface Judged {
  readonly delivery: UnpackedDelivery
  /** Null when it was not looked up; null in the list for an unknown event. */
  verdicts: readonly (RecordVerdict | null)[] | null
}

const insertPlain = `
  insert into hookonce_events (source, event_id, event_type, related_reference, reference_label, content_hash, received_at,
    part, processing_state)
  values (?, ?, ?, ?, ?, ?, ?, 0, 'pending')
  on conflict (source, event_id) do nothing`
const insertEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, reference_label, content_hash, received_at,
    part, payload_seq, processing_state, reason, processed_at, parked, withheld, lane, same_as, origin)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (source, event_id) do nothing`
const insertPayload = 'insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)'
const insertWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?, ?, ?, 0, 0, ?)`
const insertPlainWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt)
  select seq, source, ?, 0, 0 from hookonce_events where seq >= ? and seq <= ?`
const insertLeasedWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane, token, worker, claimed_at)
  values (?, ?, ?, 1, 0, ?, ?, ?, ?)`

function dropped(): RecordVerdict {
  const { code, message } = new HookonceError('STORE_FAILED', { problem: DROPPED })
  return { status: 'refused', code, detail: message }
}

/** Use it in one write transaction: the seqs of its new events have no gaps. */
export function insertion(log: Connection) {
  const book = hourBook()
  let firstPlain = 0
  let lastPlain = 0

  function writePlainWork(): void {
    if (firstPlain === 0) return
    log.run(insertPlainWork, log.now, firstPlain, lastPlain)
    firstPlain = 0
  }

  /** Returns the time of its lease, if it is claimed. */
  function writeWork(seq: number, source: string, { lane = null, claim }: UnpackedEvent): number | null {
    const dueAt = dueIn(log, source, lane, seq)
    if (claim === null || dueAt > log.now) {
      log.run(insertWork, seq, source, dueAt, lane)
      return null
    }
    const { token, worker, leaseMs } = claim
    log.run(insertLeasedWork, seq, source, log.now + leaseMs, lane, token, worker, log.now)
    return log.now
  }

  function insertAsPlain({
    source,
    headers,
    body,
    events,
    receivedAt,
    origin,
  }: UnpackedDelivery): RecordVerdict | null {
    const event = events[0]!
    const { id, type, reference, label, contentHash, guardHash, lane } = event
    if (events.length > 1 || guardHash !== null || lane !== null || origin !== 'delivery') return null
    const at = receivedAt ?? log.now
    const values = [source, id, type, reference, label, contentHash, at]
    const { changes, lastInsertRowid } = log.run(insertPlain, ...values)
    if (changes === 0) return null
    const seq = Number(lastInsertRowid)
    log.run(insertPayload, seq, at, headers, body)
    addReferences(log, seq, event.others)
    book.recorded(source, at, seq)
    if (event.claim !== null) {
      writePlainWork()
      return judge(newlyFound(seq, writeWork(seq, source, event)))
    }
    if (firstPlain === 0) firstPlain = seq
    lastPlain = seq
    return judge(newlyFound(seq, null))
  }

  function insertDelivery({ delivery, verdicts }: Judged): RecordVerdict[] {
    const { source, headers, body, events } = delivery
    const receivedAt = delivery.receivedAt ?? log.now
    const { stores, handles } = contentGuards[delivery.contentGuard]
    let payloadSeq: number | null = null

    function insertEventOf(event: UnpackedEvent, part: number): RecordVerdict | null {
      const { id, type, reference, label, contentHash, lane = null } = event
      const sameAs = guardHolder(log, source, event)
      if (sameAs !== null && !stores) return known(log, source, event) ?? { status: 'replayed' }
      const withheld = sameAs !== null && !handles
      const state = withheld ? 'ignored' : 'pending'
      const reason = withheld ? 'replayed_content' : null
      const inserted = log.run(
        insertEvent,
        source,
        id,
        type,
        reference,
        label,
        contentHash,
        receivedAt,
        part,
        payloadSeq,
        state,
        reason,
        withheld ? log.now : null,
        withheld ? 'ignored' : null,
        withheld ? 1 : null,
        lane,
        sameAs,
        delivery.origin === 'delivery' ? null : delivery.origin,
      )
      if (inserted.changes === 0) return null
      const seq = Number(inserted.lastInsertRowid)
      if (payloadSeq === null) {
        payloadSeq = seq
        log.run(insertPayload, seq, receivedAt, headers, body)
      }
      addReferences(log, seq, event.others)
      book.recorded(source, receivedAt, seq)
      if (sameAs === null) registerGuard(log, source, event)
      if (withheld) book.add(source, receivedAt, { ignored: 1 })
      const leasedAt = withheld ? null : writeWork(seq, source, event)
      return judge({ seq, isNew: true, state, final: withheld, equal: true, sameAs, leasedAt })
    }

    return events.map(
      (event, part) =>
        (verdicts ? verdicts[part] : known(log, source, event)) ??
        insertEventOf(event, part) ??
        // Another process has recorded it, or it is in this call twice.
        known(log, source, event) ??
        dropped(),
    )
  }

  return {
    insert(judged: Judged): RecordVerdict[] {
      const verdict = insertAsPlain(judged.delivery)
      if (verdict) return [verdict]
      // A look-up reads the rows in `work`.
      writePlainWork()
      return insertDelivery(judged)
    },
    /** Writes what was collected for all deliveries. Call it last. */
    finish(): void {
      writePlainWork()
      book.write(log)
    },
  }
}
