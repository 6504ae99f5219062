/** Writes counts of duplicates, for many events at once. The events themselves are not changed. */
import { DuplicateAudit, type DuplicateNote } from '../shared/duplicate-audit.js'
import type { Database } from './connection/database.js'
import { numbers, type Statement } from './connection/statement.js'

/**
 * An event that retention has removed gets no row. Its look-up has a limit, so that the planner can only use the key: a plan
 * that was made on an empty log read all events.
 * $1 seqs   $2 counts   $3 first, ms   $4 last, ms
 */
const write: Statement = {
  name: 'duplicates',
  sql: `
insert into hookonce.duplicates as d (seq, count, first_at, last_at, conflicts)
select i.seq, i.count, to_timestamp(i.first_ms / 1000), to_timestamp(i.last_ms / 1000), 0
from unnest($1::bigint[], $2::bigint[], $3::float8[], $4::float8[]) as i (seq, count, first_ms, last_ms)
cross join lateral (select from hookonce.events e where e.seq = i.seq limit 1) e
order by i.seq
on conflict (seq) do update set
  count = d.count + excluded.count,
  first_at = least(d.first_at, excluded.first_at),
  last_at = greatest(d.last_at, excluded.last_at)`,
}

export function duplicateCounts(db: Database): DuplicateAudit {
  return new DuplicateAudit((notes) => writeDuplicates(db, notes))
}

async function writeDuplicates(db: Database, notes: readonly DuplicateNote[]): Promise<void> {
  await db.query(write, [
    numbers(notes.map((note) => note.seq)),
    numbers(notes.map((note) => note.count)),
    numbers(notes.map((note) => note.firstAt)),
    numbers(notes.map((note) => note.lastAt)),
  ])
}
