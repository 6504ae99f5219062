/** Restore: puts bytes back that retention removed, under the events that are still there. */
import type { StoredDelivery } from '../../store.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { hexOrNull } from './event-row.js'

export function restore(
  connection: Connection,
  _now: number,
  deliveries: readonly StoredDelivery[],
): boolean[] {
  return connection.write(() => deliveries.map((delivery) => restoreOne(connection, delivery)))
}

const eventByKey = `
  select coalesce(payload_seq, seq) as payload_seq, received_at, content_hash, erased_at
  from hookonce_events where source = ? and event_id = ?`
const insertPayload = `
  insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?) on conflict (seq) do nothing`

function restoreOne(connection: Connection, delivery: StoredDelivery): boolean {
  const { source, events, receivedAt, headers, body } = delivery
  const found: Row[] = []
  for (const { eventId, contentHash } of events) {
    const row = connection.prepare(eventByKey).get(source, eventId)
    if (row === undefined) continue
    const same = Number(row.received_at) === receivedAt && hexOrNull(row.content_hash) === contentHash
    if (!same || row.erased_at !== null) return false
    found.push(row)
  }
  const [first] = found
  if (first === undefined || found.some((row) => row.payload_seq !== first.payload_seq)) return false
  const put = connection.prepare(insertPayload)
  return put.run(first.payload_seq!, receivedAt, JSON.stringify(headers), body).changes === 1
}
