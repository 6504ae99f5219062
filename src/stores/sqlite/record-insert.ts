/**
 * The rows of new events. A plain event (alone in its delivery, no guard, no lane) takes two short statements; its row in
 * `work` is written together with those of its neighbours. All other events take the long way.
 */
import { contestedId, type NewEvent, type RecordVerdict, tombstoneOf } from '../../model.js'
import type { Connection } from './connection.js'
import { dueIn } from './lane.js'
import type { UnpackedDelivery } from './pack.js'
import { duplicate, isIdOf } from './record-known.js'
import { hourBook } from './stats.js'

/** A delivery and the verdicts on its events: null when it was not looked up; null in the list for an unknown event. */
export interface Judged {
  readonly delivery: UnpackedDelivery
  verdicts: readonly (RecordVerdict | null)[] | null
}

export interface Insertion {
  insert(judged: Judged): RecordVerdict[]
  /** Writes what was collected for all deliveries. Nothing may be inserted after it. */
  finish(): void
}

const insertPlain = `
  insert into hookonce_events (source, event_id, event_type, related_reference, content_hash, received_at, part,
    processing_state)
  values (?, ?, ?, ?, ?, ?, 0, 'pending')
  on conflict (source, event_id) do nothing`
const insertEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, content_hash, received_at, part,
    payload_seq, processing_state, reason, processed_at, parked, lane, same_as, contests, guard_hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (source, event_id) do nothing`
const insertPayload = 'insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)'
const insertWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?, ?, ?, 0, 0, ?)`
const insertPlainWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt)
  select seq, source, ?, 0, 0 from hookonce_events where seq >= ? and seq <= ?`
const insertGuard = `
  insert into hookonce_guards (source, content_hash, event_id) values (?, ?, ?) on conflict do nothing`
const guardHolder = 'select event_id, retired_at from hookonce_guards where source = ? and content_hash = ?'
const anyTombstone = 'select 1 from hookonce_tombstones where source = ? limit 1'
const tombstone = 'select 1 from hookonce_tombstones where source = ? and digest = ?'

/** Used inside one write transaction, which keeps the seqs of its new events without gaps. */
export function insertion(connection: Connection, now: number): Insertion {
  const book = hourBook()
  const sourceHasTombstones = new Map<string, boolean>()
  /** The plain events that have no row in `work` yet; 0 = none. */
  let firstPlain = 0
  let lastPlain = 0

  function hasTombstones(source: string): boolean {
    const known = sourceHasTombstones.get(source)
    if (known !== undefined) return known
    const has = connection.prepare(anyTombstone).get(source) !== undefined
    sourceHasTombstones.set(source, has)
    return has
  }

  function writePlainWork(): void {
    if (firstPlain === 0) return
    connection.prepare(insertPlainWork).run(now, firstPlain, lastPlain)
    firstPlain = 0
  }

  /** Null when the event is not plain or not new. */
  function insertAsPlain({
    source,
    headers,
    body,
    events,
    receivedAt,
  }: UnpackedDelivery): RecordVerdict | null {
    const { eventId, eventType, reference, contentHash, guardHash, lane } = events[0]!
    if (events.length > 1 || guardHash !== null || lane !== null || hasTombstones(source)) return null
    const at = receivedAt ?? now
    const { changes, lastInsertRowid } = connection
      .prepare(insertPlain)
      .run(source, eventId, eventType, reference, contentHash, at)
    if (changes === 0) return null
    const seq = Number(lastInsertRowid)
    connection.prepare(insertPayload).run(seq, at, headers, body)
    book.recorded(source, at, seq)
    if (firstPlain === 0) firstPlain = seq
    lastPlain = seq
    return { status: 'recorded', seq, state: 'pending' }
  }

  function insertDelivery({ delivery, verdicts }: Judged): RecordVerdict[] {
    const { source, headers, body, events, onReplayedContent } = delivery
    const receivedAt = delivery.receivedAt ?? now
    let payloadSeq: number | null = null

    function insertAs(
      eventId: string,
      contests: string | null,
      event: NewEvent,
      part: number,
    ): RecordVerdict | null {
      const { eventType, reference, contentHash, guardHash, lane = null } = event
      const holder = guardHash && connection.prepare(guardHolder).get(source, guardHash)
      const isRetired = holder && holder.retired_at !== null && isIdOf(String(holder.event_id), event)
      const isBuried = () =>
        hasTombstones(source) &&
        connection.prepare(tombstone).get(source, tombstoneOf(event.eventId, contentHash)) !== undefined
      if (isRetired || isBuried()) return duplicate(connection, now, source, event) ?? { status: 'retired' }
      const sameAs = holder && holder.event_id !== eventId ? String(holder.event_id) : null
      if (sameAs !== null && onReplayedContent === 'reject')
        return duplicate(connection, now, source, event) ?? { status: 'replayed' }
      const withheld = sameAs !== null && onReplayedContent === 'review'
      const inserted = connection
        .prepare(insertEvent)
        .run(
          source,
          eventId,
          eventType,
          reference,
          contentHash,
          receivedAt,
          part,
          payloadSeq,
          withheld ? 'ignored' : 'pending',
          withheld ? 'replayed_content' : null,
          withheld ? now : null,
          withheld ? 'ignored' : null,
          lane,
          sameAs,
          contests,
          sameAs === null ? null : guardHash,
        )
      if (inserted.changes === 0) return null
      const seq = Number(inserted.lastInsertRowid)
      if (payloadSeq === null) {
        payloadSeq = seq
        connection.prepare(insertPayload).run(seq, receivedAt, headers, body)
      }
      book.recorded(source, receivedAt, seq)
      if (guardHash && sameAs === null) connection.prepare(insertGuard).run(source, guardHash, eventId)
      if (withheld) book.add(source, receivedAt, { ignored: 1 })
      else connection.prepare(insertWork).run(seq, source, dueIn(connection, now, source, lane, seq), lane)
      return {
        status: 'recorded',
        seq,
        state: withheld ? 'ignored' : 'pending',
        ...(sameAs !== null && { sameAs }),
        ...(contests !== null && { storedAs: eventId }),
      }
    }

    const known = verdicts ?? events.map((event) => duplicate(connection, now, source, event))
    return events.map(
      (event, part): RecordVerdict =>
        known[part] ??
        insertAs(event.eventId, null, event, part) ??
        // The id has a row now: another process recorded it, it is in this call twice, or it is contested.
        duplicate(connection, now, source, event) ??
        insertAs(contestedId(event), event.eventId, event, part)!,
    )
  }

  return {
    insert(judged) {
      const verdict = insertAsPlain(judged.delivery)
      if (verdict) return [verdict]
      // A look-up reads the rows in `work`.
      writePlainWork()
      return insertDelivery(judged)
    },
    finish() {
      writePlainWork()
      book.write(connection)
    },
  }
}
