import type { EventKey, EventRecord } from '../../model.js'
import type { Attempt, Payload } from '../../store.js'
import type { Connection } from './connection.js'
import { eventColumns, hexOf, recordsOf, rowsOf, withHeaders } from './rows.js'

const eventByKey = `${eventColumns('?3')} where e.source = ?1 and e.event_id = ?2`

export function get(log: Connection, { source, id }: EventKey): EventRecord | null {
  return recordsOf(log.all(eventByKey, source, id, log.now))[0] ?? null
}

const payloadByKey = `
  select p.headers, p.body, e.part, ${hexOf('e.content_hash')} as contentHash, e.received_at as receivedAt
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where e.source = ? and e.event_id = ?`

export function payload(log: Connection, { source, id }: EventKey): Payload | null {
  const row = log.get(payloadByKey, source, id)
  return row === undefined ? null : withHeaders<Payload>(row)
}

const attemptsByKey = `
  select a.attempt, a.run, a.worker, a.started_at as startedAt, a.finished_at as finishedAt, a.outcome, a.detail,
    a.place
  from hookonce_events e join hookonce_attempts a on a.seq = e.seq
  where e.source = ? and e.event_id = ? order by a.attempt`

export function attempts(log: Connection, { source, id }: EventKey): Attempt[] {
  return rowsOf<Attempt>(log.all(attemptsByKey, source, id))
}
