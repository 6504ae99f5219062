/**
 * What is left of events that retention has removed. An event that holds its guard leaves that: the guard says both that
 * the event was here and whose content it was. The others leave a digest.
 */
import { tombstoneOf } from '../../model.js'
import type { PruneOptions } from '../../store.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { REMOVALS } from './sweep.js'

const retireGuard = `
  update hookonce_guards set retired_at = ? where source = ? and event_id = ? and retired_at is null`
const insert = `
  insert into hookonce_tombstones (source, digest, left_at) values (?, ?, ?)
  on conflict (source, digest) do update set left_at = excluded.left_at`

/** `row` needs source, event_id, contests, content_hash. */
export function leaveTombstone(connection: Connection, now: number, row: Row): void {
  const { source, event_id: eventId, contests, content_hash: content } = row
  if (connection.prepare(retireGuard).run(now, source!, eventId!).changes > 0) return
  const hash = content instanceof Uint8Array ? content : null
  connection.prepare(insert).run(source!, tombstoneOf(String(contests ?? eventId), hash), now)
}

const removeDigests = `
  delete from hookonce_tombstones where source = ?1 and digest in (
    select digest from hookonce_tombstones where source = ?1 and left_at < ?2 limit ?3)`
const removeGuards = `
  delete from hookonce_guards where source = ?1 and content_hash in (
    select content_hash from hookonce_guards where source = ?1 and retired_at < ?2 limit ?3)`

/** Looks at every tombstone of the source: it is asked for once in a run, and only where they do not stay for ever. */
export function removeTombstones(
  connection: Connection,
  { source, tombstonesBefore, limit }: PruneOptions,
): { more: boolean } {
  if (tombstonesBefore === undefined) return { more: false }
  const most = Math.min(limit, REMOVALS)
  const removed = [removeDigests, removeGuards].map(
    (sql) => connection.prepare(sql).run(source, tombstonesBefore, most).changes,
  )
  return { more: removed.some((count) => Number(count) >= most) }
}
