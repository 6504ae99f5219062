/** Watermarks: how far a subject has come. They only move forward. */
import type { Database, Statement } from './database.js'

/** $1 source   $2 key   $3 value. No row: it is further already. */
export const advance: Statement = {
  name: 'watermark_advance',
  sql: `
insert into hookonce.watermarks as w (source, key, value) values ($1, $2, $3)
on conflict (source, key) do update set value = excluded.value where w.value <= excluded.value
returning value`,
}

const read: Statement = {
  name: 'watermark',
  sql: 'select value from hookonce.watermarks where source = $1 and key = $2',
}

export async function watermarkOf(db: Database, source: string, key: string): Promise<number | null> {
  const [row] = await db.query<{ value: number }>(read, [source, key])
  return row?.value ?? null
}
