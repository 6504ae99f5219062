/** Marks of what an archive holds, and how other verbs ask for them. */
import type { ArchiveReceipt } from '../../store.js'
import type { Database, Statement } from './database.js'
import { numbers } from './parameters.js'

/** $1 source   $2 day   $3 object   $4 seqs */
const mark: Statement = {
  name: 'archived_mark',
  sql: `
insert into hookonce.archived (source, day, object, seqs) values ($1, $2::date, $3, $4::bigint[])
on conflict (source, day, object) do update set seqs = excluded.seqs`,
}

export function archived(db: Database, marks: readonly ArchiveReceipt[]): Promise<void> {
  return db.atomic(async (run) => {
    for (const { source, day, object, seqs } of marks) await run(mark, [source, day, object, numbers(seqs)])
  })
}

/**
 * The seqs in an archive, for a statement that looks at events $3 to $4 of source $1: those of the days in which these
 * were received.
 */
export const archivedSeqs = `
  select unnest(a.seqs) from hookonce.archived a where a.source = $1
    and a.day >= (select (min(d.received_at) at time zone 'utc')::date from hookonce.events d
      where d.seq >= $3 and d.seq < $4 and d.source = $1)
    and a.day <= (select (max(d.received_at) at time zone 'utc')::date from hookonce.events d
      where d.seq >= $3 and d.seq < $4 and d.source = $1)`
