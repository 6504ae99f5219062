/** Marks of what an archive holds, and how other verbs ask for them. */
import type { ArchiveReceipt } from '../../store.js'
import type { Connection } from './connection.js'

const mark = `
  insert into hookonce_archived (source, day, object, first_seq, last_seq, seqs) values (?, ?, ?, ?, ?, ?)
  on conflict (source, day, object) do update set first_seq = excluded.first_seq, last_seq = excluded.last_seq,
    seqs = excluded.seqs`

export function archived(connection: Connection, _now: number, marks: readonly ArchiveReceipt[]): void {
  connection.write(() => {
    for (const { source, day, object, seqs } of marks) {
      const sorted = [...seqs].sort((a, b) => a - b)
      connection.prepare(mark).run(source, day, object, sorted[0]!, sorted.at(-1)!, JSON.stringify(sorted))
    }
  })
}

/**
 * The seqs in an archive, for a statement that looks at events ?3 to ?4 of source ?1. Bytes are stored under the first
 * event of their delivery, so they may lie a little before it.
 */
export const archivedSeqs = `
  select j.value from hookonce_archived a, json_each(a.seqs) j
  where a.source = ?1 and a.last_seq >= ?3 - 100000 and a.first_seq < ?4`

const forget = 'delete from hookonce_archived where source = ? and day < ?'

/** Marks go with the events they are about. */
export function forgetArchived(connection: Connection, source: string, before: number): void {
  connection.prepare(forget).run(source, new Date(before).toISOString().slice(0, 10))
}
