/** The compact audit of duplicates: one row per event that came more than once. */
import type { DuplicateNote } from '../shared/duplicate-audit.js'
import type { Connection } from './connection.js'

// An event may have been removed since its duplicate was seen; then there is nothing to note it on.
const upsert = `
  insert into hookonce_duplicates (seq, count, first_at, last_at, conflicts, conflict_hash, conflict_at)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7 where exists (select 1 from hookonce_events where seq = ?1)
  on conflict (seq) do update set
    count = count + excluded.count,
    first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at),
    conflicts = conflicts + excluded.conflicts,
    conflict_hash = coalesce(excluded.conflict_hash, conflict_hash),
    conflict_at = coalesce(excluded.conflict_at, conflict_at)`

export function noteDuplicates(connection: Connection, _now: number, notes: readonly DuplicateNote[]): void {
  connection.write(() => {
    const statement = connection.prepare(upsert)
    for (const { seq, count, firstAt, lastAt, conflicts, conflictHash, conflictAt } of notes) {
      statement.run(seq, count, firstAt, lastAt, conflicts, conflictHash, conflictAt)
    }
  })
}
