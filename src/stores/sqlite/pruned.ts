/** How far retention has gone, per source: what lets a reader of the log know that it has missed something. */
import type { Connection } from './connection.js'

const note = `
  insert into hookonce_pruned (source, seq) values (?, ?)
  on conflict (source) do update set seq = max(seq, excluded.seq)`

/** Call it in the transaction that removes events, with the highest seq of those. */
export function notePruned(connection: Connection, source: string, seq: number): void {
  connection.prepare(note).run(source, seq)
}
