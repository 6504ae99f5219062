/** Watermarks: how far a subject has come. They only move forward. */
import type { Watermark } from '../../store.js'
import type { Connection } from './connection.js'
import { numberOrNull } from './event-row.js'

const forward = `
  insert into hookonce_watermarks (source, key, value) values (?, ?, ?)
  on conflict (source, key) do update set value = excluded.value where value <= excluded.value`

/** Inside a handler's transaction. False = it is further already. */
export function advanceWithin(connection: Connection, { source, key, value }: Watermark): boolean {
  return connection.prepare(forward).run(source, key, value).changes === 1
}

const read = 'select value from hookonce_watermarks where source = ? and key = ?'

export function watermark(
  connection: Connection,
  _now: number,
  { source, key }: Pick<Watermark, 'source' | 'key'>,
): number | null {
  return numberOrNull(connection.prepare(read).get(source, key)?.value)
}
