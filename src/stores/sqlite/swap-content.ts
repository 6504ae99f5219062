/** An operator's decision about the other content of an event. */
import type { Connection } from './connection.js'

/** The number of the next other content of the event `?1`. Instants cannot tell which of a batch is the latest. */
export const nextNumber = '(select coalesce(max(number), 0) + 1 from hookonce_conflicts where seq = ?1)'

/** The one that a person sees and decides about: an open one hides behind none that was decided about. */
export const shownFirst = 'c.decided_at is null desc, c.number desc'

const decide = `
  update hookonce_conflicts set decided_at = ?1 where seq = ?2 and decided_at is null and hash = coalesce(?3, hash)`

/** A person has decided for the present content: against the one with this hash, or against all that are open. */
export function decideConflict(log: Connection, seq: number, hash: Uint8Array | null): void {
  log.run(decide, log.now, seq, hash)
}

const find = `
  select c.hash, c.part, c.headers, c.body, e.source, e.received_at, e.content_hash, e.part as old_part,
    coalesce(e.payload_seq, e.seq) as old_payload
  from hookonce_conflicts c join hookonce_events e on e.seq = c.seq where c.seq = ? and c.hash = ?`
const removeConflict = 'delete from hookonce_conflicts where seq = ? and hash = ?'
const keepPayload = `
  insert or ignore into hookonce_conflicts (seq, hash, number, source, first_at, at, decided_at, part, headers, body)
  select ?1, ?2, ${nextNumber}, ?3, ?4, ?4, ?4, ?5, p.headers, p.body
  from (select ?6 as seq) o left join hookonce_payloads p on p.seq = o.seq where ?2 is not null`
const removePayload = `
  delete from hookonce_payloads where seq = ?2 and not exists (
    select 1 from hookonce_events o where o.seq <> ?1
      and (o.payload_seq = ?2 or (o.seq = ?2 and o.payload_seq is null)))`
const putPayload = `
  insert or replace into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)`
const point = 'update hookonce_events set payload_seq = ?2, part = ?3, content_hash = ?4 where seq = ?1'

/** The other content with this hash and the payload of the event change places. */
export function swapContent(log: Connection, seq: number, hash: Uint8Array): void {
  const row = log.get(find, seq, hash)!
  const oldPayload = Number(row.old_payload)
  log.run(removeConflict, seq, row.hash!)
  log.run(keepPayload, seq, row.content_hash!, row.source!, log.now, row.old_part!, oldPayload)
  log.run(removePayload, seq, oldPayload)
  // Other events of its delivery may still use the payload under its own seq. No event has a negative one.
  log.run(putPayload, -seq, row.received_at!, row.headers!, row.body!)
  log.run(point, seq, -seq, row.part!, row.hash!)
}
