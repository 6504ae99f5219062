/**
 * A plain event (alone in its delivery, no guard, no lane) takes two short statements; its row in
 * `work` is written together with those of its neighbours. All other events take the long way.
 */
import { contentGuards, type NewEvent, type RecordVerdict } from '../../model.js'
import { judge, newlyFound } from '../shared/judge.js'
import type { Connection } from './connection.js'
import { dueIn } from './lane.js'
import type { UnpackedDelivery } from './pack.js'
import { known } from './record-known.js'
import { hourBook } from './stats.js'

export interface Judged {
  readonly delivery: UnpackedDelivery
  /** Null when it was not looked up; null in the list for an unknown event. */
  verdicts: readonly (RecordVerdict | null)[] | null
}

const insertPlain = `
  insert into hookonce_events (source, event_id, event_type, related_reference, content_hash, received_at, part,
    processing_state)
  values (?, ?, ?, ?, ?, ?, 0, 'pending')
  on conflict (source, event_id) do nothing`
const insertEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, content_hash, received_at, part,
    payload_seq, processing_state, reason, processed_at, parked, lane, same_as)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (source, event_id) do nothing`
const insertPayload = 'insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)'
const insertWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?, ?, ?, 0, 0, ?)`
const insertPlainWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt)
  select seq, source, ?, 0, 0 from hookonce_events where seq >= ? and seq <= ?`
const insertGuard = `
  insert into hookonce_guards (source, content_hash, event_id) values (?, ?, ?) on conflict do nothing`
const guardHolder = 'select event_id from hookonce_guards where source = ? and content_hash = ?'

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

  function insertAsPlain({
    source,
    headers,
    body,
    events,
    receivedAt,
  }: UnpackedDelivery): RecordVerdict | null {
    const { id, type, reference, contentHash, guardHash, lane } = events[0]!
    if (events.length > 1 || guardHash !== null || lane !== null) return null
    const at = receivedAt ?? log.now
    const { changes, lastInsertRowid } = log.run(insertPlain, source, id, type, reference, contentHash, at)
    if (changes === 0) return null
    const seq = Number(lastInsertRowid)
    log.run(insertPayload, seq, at, headers, body)
    book.recorded(source, at, seq)
    if (firstPlain === 0) firstPlain = seq
    lastPlain = seq
    return judge(newlyFound(seq))
  }

  function insertDelivery({ delivery, verdicts }: Judged): RecordVerdict[] {
    const { source, headers, body, events } = delivery
    const receivedAt = delivery.receivedAt ?? log.now
    const { stores, handles } = contentGuards[delivery.contentGuard]
    let payloadSeq: number | null = null

    function insertEventOf(event: NewEvent, part: number): RecordVerdict | null {
      const { id, type, reference, contentHash, guardHash, lane = null } = event
      const holder = guardHash && log.get(guardHolder, source, guardHash)
      const sameAs = holder && holder.event_id !== id ? String(holder.event_id) : null
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
        contentHash,
        receivedAt,
        part,
        payloadSeq,
        state,
        reason,
        withheld ? log.now : null,
        withheld ? 'ignored' : null,
        lane,
        sameAs,
      )
      if (inserted.changes === 0) return null
      const seq = Number(inserted.lastInsertRowid)
      if (payloadSeq === null) {
        payloadSeq = seq
        log.run(insertPayload, seq, receivedAt, headers, body)
      }
      book.recorded(source, receivedAt, seq)
      if (guardHash && sameAs === null) log.run(insertGuard, source, guardHash, id)
      if (withheld) book.add(source, receivedAt, { ignored: 1 })
      else log.run(insertWork, seq, source, dueIn(log, source, lane, seq), lane)
      return judge({ seq, isNew: true, state, final: withheld, equal: true, sameAs, withheld })
    }

    return events.map(
      (event, part) =>
        (verdicts ? verdicts[part] : known(log, source, event)) ??
        insertEventOf(event, part) ??
        // Another process has recorded it, or it is in this call twice.
        known(log, source, event)!,
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
