/** Known events: the verdict on an event that is in the log already, and the audit of its repeated deliveries. */
import { contestedId, isFinal, type NewEvent, type RecordVerdict } from '../../model.js'
import type { DuplicateNote } from '../shared/duplicate-audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { standing } from './rows.js'

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
export function duplicate(
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
export function isIdOf(eventId: string, event: NewEvent): boolean {
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
