/** Reads of one event: its record, its payload, its attempts. */
import type { EventKey, EventRecord } from '../../model.js'
import type { Attempt, AttemptOutcome, Payload } from '../../store.js'
import type { Connection } from './connection.js'
import { eventColumns, hexOrNull, textOrNull, toRecord } from './rows.js'

const eventByKey = `${eventColumns} where e.source = ? and e.event_id = ?`

export function get(connection: Connection, now: number, { source, id }: EventKey): EventRecord | null {
  const row = connection.prepare(eventByKey).get(source, id)
  return row === undefined ? null : toRecord(row, now)
}

const payloadByKey = `
  select p.headers, p.body, e.part, e.content_hash, e.received_at
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where e.source = ? and e.event_id = ?`

export function payload(connection: Connection, _now: number, { source, id }: EventKey): Payload | null {
  const row = connection.prepare(payloadByKey).get(source, id)
  if (row === undefined) return null
  return {
    headers: JSON.parse(String(row.headers)),
    body: row.body as Uint8Array,
    part: Number(row.part),
    contentHash: hexOrNull(row.content_hash),
    receivedAt: Number(row.received_at),
  }
}

const attemptsByKey = `
  select a.attempt, a.run, a.worker, a.started_at, a.finished_at, a.outcome, a.detail
  from hookonce_events e join hookonce_attempts a on a.seq = e.seq
  where e.source = ? and e.event_id = ? order by a.attempt`

export function attempts(connection: Connection, _now: number, { source, id }: EventKey): Attempt[] {
  return connection
    .prepare(attemptsByKey)
    .all(source, id)
    .map((row) => ({
      attempt: Number(row.attempt),
      run: Number(row.run),
      worker: String(row.worker),
      startedAt: Number(row.started_at),
      finishedAt: Number(row.finished_at),
      outcome: row.outcome as AttemptOutcome,
      detail: textOrNull(row.detail),
    }))
}
