import type { NewEvent, RecordVerdict, State } from '../../model.js'
import type { DuplicateNote } from '../shared/duplicate-audit.js'
import { judge } from '../shared/judge.js'
import type { Connection } from './connection.js'
import { stateAt } from './rows.js'

// The hashes are compared in SQL, because reading a blob costs more than the rest of the row. A null hash is equal to any.
const existing = `
  select e.seq, ${stateAt('?4')} as state, w.seq is null as final, coalesce(e.content_hash = ?3, 1) as equal
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where e.source = ?1 and e.event_id = ?2`

export function known(log: Connection, source: string, { id, contentHash }: NewEvent): RecordVerdict | null {
  const row = log.get(existing, source, id, contentHash, log.now)
  if (row === undefined) return null
  return judge({
    seq: Number(row.seq),
    isNew: false,
    state: row.state as State,
    final: row.final === 1,
    equal: row.equal === 1,
    sameAs: null,
    leasedAt: null,
  })
}

// An event that has been removed since gets no row.
const upsertDuplicates = `
  insert into hookonce_duplicates (seq, count, first_at, last_at, conflicts)
  select ?1, ?2, ?3, ?4, 0 where exists (select 1 from hookonce_events where seq = ?1)
  on conflict (seq) do update set
    count = count + excluded.count,
    first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at)`

export function noteDuplicates(log: Connection, notes: readonly DuplicateNote[]): void {
  log.write(() => {
    const statement = log.prepare(upsertDuplicates)
    for (const { seq, count, firstAt, lastAt } of notes) statement.run(seq, count, firstAt, lastAt)
  })
}
