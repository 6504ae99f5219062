/** Writes counts of duplicates and conflicts, for many events at once. The events themselves are not changed. */
import { type DuplicateAudit, type DuplicateNote, duplicateAudit } from '../shared/duplicate-audit.js'
import type { Database } from './database.js'
import { joined, numbers, type Statement } from './statement.js'

/**
 * An event that retention has removed gets no row. Its look-up has a limit, so that the planner can only use the key: a plan
 * that was made on an empty log read all events.
 * $1 seqs   $2 counts   $3 first, ms   $4 last, ms   $5 conflicts   $6 conflict at, ms or null   $7 hashes, joined
 */
const write: Statement = {
  name: 'duplicates',
  sql: `
insert into hookonce.duplicates as d (seq, count, first_at, last_at, conflicts, conflict_at, conflict_hash)
select i.seq, i.count, to_timestamp(i.first_ms / 1000), to_timestamp(i.last_ms / 1000), i.conflicts,
  to_timestamp(i.conflict_ms / 1000),
  case when i.conflict_ms is not null then substring($7::bytea from (32 * (i.n - 1) + 1)::int for 32) end
from unnest($1::bigint[], $2::bigint[], $3::float8[], $4::float8[], $5::bigint[], $6::float8[])
  with ordinality as i (seq, count, first_ms, last_ms, conflicts, conflict_ms, n)
cross join lateral (select from hookonce.events e where e.seq = i.seq limit 1) e
order by i.seq
on conflict (seq) do update set
  count = d.count + excluded.count,
  first_at = least(d.first_at, excluded.first_at),
  last_at = greatest(d.last_at, excluded.last_at),
  conflicts = d.conflicts + excluded.conflicts,
  conflict_at = coalesce(excluded.conflict_at, d.conflict_at),
  conflict_hash = coalesce(excluded.conflict_hash, d.conflict_hash)`,
}

/** Counts duplicates in memory and writes them after `delayMs`. */
export function duplicateCounts(db: Database, delayMs: number): DuplicateAudit {
  return duplicateAudit({ write: (notes) => writeDuplicates(db, notes), delayMs })
}

async function writeDuplicates(db: Database, notes: readonly DuplicateNote[]): Promise<void> {
  await db.query(write, [
    numbers(notes.map((note) => note.seq)),
    numbers(notes.map((note) => note.count)),
    numbers(notes.map((note) => note.firstAt)),
    numbers(notes.map((note) => note.lastAt)),
    numbers(notes.map((note) => note.conflicts)),
    numbers(notes.map((note) => note.conflictAt)),
    joined(notes.map((note) => note.conflictHash ?? NO_HASH)),
  ])
  for (const { seq, conflictAt, conflict } of notes) {
    if (conflict === null || conflictAt === null) continue
    const { source, part, headers, body } = conflict
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    // The counts are written: a failure here must not write them again.
    await db
      .query(keepConflict, [seq, source, conflictAt, part, JSON.stringify(headers), bytes])
      .catch(() => {})
  }
}

/** $1 seq   $2 source   $3 at, ms   $4 part   $5 headers   $6 body. The bytes of an erased event must not come back. */
const keepConflict: Statement = {
  name: 'conflict_keep',
  sql: `
insert into hookonce.conflicts as c (seq, source, at, part, headers, body)
select $1, $2, to_timestamp($3::float8 / 1000), $4, $5, $6
from hookonce.events e where e.seq = $1 and e.erased_at is null
on conflict (seq) do update set at = excluded.at, part = excluded.part, headers = excluded.headers, body = excluded.body
where c.at <= excluded.at`,
}

const NO_HASH = new Uint8Array(32)
