/**
 * Record: one transaction for all deliveries of a call. Known events are found first by a plain read, so that a call with
 * nothing new writes nothing; for the others the unique constraint decides.
 */
import { HookonceError } from '../../errors.js'
import { contestedId, isFinal, type NewEvent, type RecordVerdict, tombstoneOf } from '../../model.js'
import type { DuplicateNote } from '../shared/duplicate-audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { describe, isRowsOwnFault, isSqliteError } from './failure.js'
import { dueIn } from './lane.js'
import {
  type PackedDeliveries,
  type PackedVerdicts,
  packVerdicts,
  type UnpackedDelivery,
  unpack,
} from './pack.js'
import { standing } from './rows.js'
import { type HourBook, hourBook } from './stats.js'

/** A delivery and the verdicts on its events; null = no verdict yet. */
interface Judged {
  readonly delivery: UnpackedDelivery
  verdicts: (RecordVerdict | null)[]
}

export function record(connection: Connection, now: number, packed: PackedDeliveries): PackedVerdicts {
  const judged = connection.read(() =>
    unpack(packed).map((delivery) => ({
      delivery,
      verdicts: delivery.events.map((event) => duplicate(connection, now, delivery.source, event)),
    })),
  )
  const open = judged.filter(({ verdicts }) => verdicts.includes(null))
  if (open.length > 0) insertAll(connection, now, open)
  return packVerdicts(judged.flatMap(({ verdicts }) => verdicts as RecordVerdict[]))
}

function insertAll(connection: Connection, now: number, open: readonly Judged[]): void {
  try {
    insertBatch(connection, now, open, insertDelivery)
  } catch (error) {
    // This is rare. Only now are the savepoints for each delivery worth their cost.
    if (!isRowsOwnFault(error)) throw error
    insertBatch(connection, now, open, insertOrRefuse)
  }
}

type Insert = (connection: Connection, now: number, judged: Judged, book: HourBook) => RecordVerdict[]

function insertBatch(connection: Connection, now: number, open: readonly Judged[], insert: Insert): void {
  const verdicts = connection.write(() => {
    const book = hourBook()
    const verdicts = open.map((judged) => insert(connection, now, judged, book))
    book.write(connection)
    return verdicts
  })
  open.forEach((judged, index) => {
    judged.verdicts = verdicts[index]!
  })
}

function insertOrRefuse(connection: Connection, now: number, judged: Judged): RecordVerdict[] {
  const { db } = connection
  const own = hourBook()
  db.exec('savepoint hookonce_delivery')
  try {
    const verdicts = insertDelivery(connection, now, judged, own)
    own.write(connection)
    db.exec('release hookonce_delivery')
    return verdicts
  } catch (error) {
    if (!isRowsOwnFault(error) || !isSqliteError(error)) throw error
    db.exec('rollback to hookonce_delivery')
    db.exec('release hookonce_delivery')
    const { source, events } = judged.delivery
    return events.map(({ eventId }) => {
      const { code, message } = new HookonceError('EVENT_REFUSED', {
        source,
        eventId,
        problem: describe(error),
      })
      return { status: 'refused', code, detail: message }
    })
  }
}

const insertEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, content_hash, received_at, part,
    payload_seq, processing_state, reason, processed_at, parked, lane, same_as, contests, guard_hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (source, event_id) do nothing`
const insertPayload = 'insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)'
const insertWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?, ?, ?, 0, 0, ?)`
const insertGuard = `
  insert into hookonce_guards (source, content_hash, event_id) values (?, ?, ?) on conflict do nothing`
const guardHolder = 'select event_id, retired_at from hookonce_guards where source = ? and content_hash = ?'
const tombstone = 'select 1 from hookonce_tombstones where source = ? and digest = ?'

function insertDelivery(
  connection: Connection,
  now: number,
  judged: Judged,
  book: HourBook,
): RecordVerdict[] {
  const { source, headers, body, events, onReplayedContent } = judged.delivery
  const receivedAt = judged.delivery.receivedAt ?? now
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
    const digest = tombstoneOf(event.eventId, contentHash)
    if (isRetired || connection.prepare(tombstone).get(source, digest))
      return duplicate(connection, now, source, event) ?? { status: 'retired' }
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

  return events.map((event, part): RecordVerdict => {
    const known = judged.verdicts[part]
    if (known) return known
    return (
      insertAs(event.eventId, null, event, part) ??
      // The id has a row now: another process recorded it, it is in this call twice, or it is contested.
      duplicate(connection, now, source, event) ??
      insertAs(contestedId(event), event.eventId, event, part)!
    )
  })
}

// The hashes are compared in SQL, because reading a blob costs more than the rest of the row. A null hash is equal to any.
// An id is contested (docs/decisions/0003-contested-ids.md) when different signed content arrives under it and there
// are signs that the first event under this id did not come from the sender.
const existing = `
  select e.seq, e.processing_state, w.token, w.next_at, w.attempt, w.base_attempt,
    coalesce(e.content_hash = ?3, 1) as equal,
    ?4 is not null and (e.content_hash = ?3) is not 1
      and (e.same_as is not null or e.reason is 'replayed_content'
        or exists (select 1 from hookonce_events f where f.source = e.source and f.same_as = e.event_id))
      and coalesce(e.guard_hash, (
        select g.content_hash from hookonce_guards g
        where g.source = e.source and g.event_id = e.event_id and g.retired_at is null
      )) is not ?4 as contested
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where e.source = ?1 and e.event_id = ?2`

/** The verdict on an event that is already in the log, under its own id or its contested id; else null. */
function duplicate(
  connection: Connection,
  now: number,
  source: string,
  event: NewEvent,
): RecordVerdict | null {
  const { eventId, contentHash, guardHash } = event
  const find = (id: string) => connection.prepare(existing).get(source, id, contentHash, guardHash)
  const row = find(eventId)
  if (row?.contested !== 1) return row === undefined ? null : asDuplicate(row, now)
  const storedAs = contestedId(event)
  const kept = find(storedAs)
  return kept === undefined ? null : { ...asDuplicate(kept, now), storedAs }
}

/** True for the id of the event and for its contested id. */
function isIdOf(eventId: string, event: NewEvent): boolean {
  return eventId === event.eventId || eventId === contestedId(event)
}

function asDuplicate(row: Row, now: number): Extract<RecordVerdict, { status: 'duplicate' }> {
  const { state, nextAttemptAt } = standing(row, now)
  return {
    status: 'duplicate',
    seq: Number(row.seq),
    state,
    final: isFinal(state, nextAttemptAt),
    equal: row.equal === 1,
  }
}

// The compact audit of duplicates: one row per event that was delivered more than once. An event that has been removed
// since gets no row.
const upsertDuplicates = `
  insert into hookonce_duplicates (seq, count, first_at, last_at, conflicts, conflict_hash, conflict_at)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7 where exists (select 1 from hookonce_events where seq = ?1)
  on conflict (seq) do update set
    count = count + excluded.count,
    first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at),
    conflicts = conflicts + excluded.conflicts,
    conflict_hash = coalesce(excluded.conflict_hash, conflict_hash),
    conflict_at = coalesce(excluded.conflict_at, conflict_at)`

/** The bytes of an erased event must not come back. */
const keepConflict = `
  insert into hookonce_conflicts (seq, source, at, part, headers, body)
  select ?1, ?2, ?3, ?4, ?5, ?6 from hookonce_events e where e.seq = ?1 and e.erased_at is null
  on conflict (seq) do update set at = excluded.at, part = excluded.part, headers = excluded.headers,
    body = excluded.body`

export function noteDuplicates(connection: Connection, _now: number, notes: readonly DuplicateNote[]): void {
  connection.write(() => {
    const statement = connection.prepare(upsertDuplicates)
    for (const { seq, count, firstAt, lastAt, conflicts, conflictHash, conflictAt, conflict } of notes) {
      statement.run(seq, count, firstAt, lastAt, conflicts, conflictHash, conflictAt)
      if (conflict === null || conflictAt === null) continue
      const { source, part, headers, body } = conflict
      connection
        .prepare(keepConflict)
        .run(seq, source, conflictAt, part, JSON.stringify(headers), Uint8Array.from(body))
    }
  })
}
