/** Erase: takes the bytes of every delivery that carries an event with a reference. The events stay, marked. */
import type { EraseOptions, EraseResult } from '../../store.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'

export function erase(connection: Connection, now: number, options: EraseOptions): EraseResult {
  return connection.write(() => {
    const { deliveries, more, busy } = erasable(connection, now, options)
    let payloads = 0
    let events = 0
    for (const seq of deliveries) {
      payloads += Number(connection.prepare(deletePayload).run(seq).changes)
      for (const event of connection.prepare(markEvents).all(seq, now)) {
        events++
        writeAudit(connection, now, options, event)
      }
    }
    if (events === 0) writeAudit(connection, now, options, null)
    return { payloads, events, busy, more }
  })
}

/** The dry run: only reads. */
export function countErasable(connection: Connection, now: number, options: EraseOptions): EraseResult {
  return connection.read(() => {
    const { deliveries, more, busy } = erasable(connection, now, options)
    const count = (sql: string) =>
      Number(connection.prepare(sql).get(JSON.stringify(deliveries))?.number ?? 0)
    return { payloads: count(countPayloads), events: count(countEvents), busy, more }
  })
}

const deletePayload = 'delete from hookonce_payloads where seq = ?'
const markEvents = `
  update hookonce_events set erased_at = ?2 where (seq = ?1 or payload_seq = ?1) and erased_at is null
  returning source, event_id`
const countPayloads = `
  select count(*) as number from hookonce_payloads where seq in (select value from json_each(?))`
const countEvents = `
  select count(*) as number from hookonce_events
  where erased_at is null
    and (seq in (select value from json_each(?1)) or payload_seq in (select value from json_each(?1)))`

// ?1 reference   ?2 source or null   ?3 now   ?4 limit
const deliveriesOf = (processing: 'exists' | 'not exists') => `
  select distinct coalesce(e.payload_seq, e.seq) as seq from hookonce_events e
  where e.related_reference = ?1 and (?2 is null or e.source = ?2) and e.erased_at is null
    and ${processing} (
      select 1 from hookonce_events o join hookonce_work w on w.seq = o.seq
      where (o.seq = coalesce(e.payload_seq, e.seq) or o.payload_seq = coalesce(e.payload_seq, e.seq))
        and w.token is not null and w.next_at > ?3)
  limit ?4`
const idle = deliveriesOf('not exists')
const processing = deliveriesOf('exists')

function erasable(connection: Connection, now: number, { reference, source, limit }: EraseOptions) {
  const find = (sql: string, most: number) =>
    connection.prepare(sql).all(reference, source ?? null, now, most)
  const rows = find(idle, limit + 1)
  return {
    deliveries: rows.slice(0, limit).map((row) => Number(row.seq)),
    more: rows.length > limit,
    busy: find(processing, limit).length,
  }
}

const audit =
  "insert into hookonce_audit (at, actor, verb, source, event_id, reason) values (?, ?, 'erase', ?, ?, ?)"

/** One for each event; when there was none, one that names the reference. */
function writeAudit(connection: Connection, now: number, options: EraseOptions, event: Row | null): void {
  const { actor, reason, reference, source = null } = options
  const write = connection.prepare(audit)
  if (event) write.run(now, actor, event.source!, event.event_id!, reason)
  else write.run(now, actor, source, null, `nothing found for reference "${reference}": ${reason}`)
}
