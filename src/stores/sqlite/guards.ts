/** Which event first brought these signed bytes, for senders whose signature does not cover the id. */
import type { NewEvent } from '../../model.js'
import type { Connection } from './connection.js'

const insert = `
  insert into hookonce_guards (source, content_hash, event_id) values (?, ?, ?) on conflict do nothing`
const holder = 'select event_id from hookonce_guards where source = ? and content_hash = ?'

/** Null when no other event has the signed content. */
export function guardHolder(log: Connection, source: string, { id, guardHash }: NewEvent): string | null {
  const row = guardHash && log.get(holder, source, guardHash)
  return row && row.event_id !== id ? String(row.event_id) : null
}

export function registerGuard(log: Connection, source: string, { id, guardHash }: NewEvent): void {
  if (guardHash) log.run(insert, source, guardHash, id)
}
