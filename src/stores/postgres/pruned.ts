/** How far retention has gone, per source: what lets a reader of the log know that it has missed something. */
import type { Run, Statement } from './database.js'

/** $1 source   $2 the highest seq removed */
const note: Statement = {
  name: 'pruned_note',
  sql: `
insert into hookonce.pruned as p (source, seq) values ($1, $2)
on conflict (source) do update set seq = excluded.seq where p.seq < excluded.seq`,
}

/** Call it in the transaction that removes events, with the highest seq of those. */
export async function notePruned(run: Run, source: string, seq: number): Promise<void> {
  await run(note, [source, seq])
}
