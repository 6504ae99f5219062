/** Export: stored deliveries in the order they entered the log, bounded in rows looked at and in bytes. Only reads. */
import type { ExportOptions, ExportPage, StoredDelivery, StoredEvent } from '../../store.js'
import { archivedSeqs } from './archived.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { hexOrNull, standing, textOrNull } from './event-row.js'
import { seqRange } from './hours.js'

const WINDOW = 10_000
const WINDOWS = 10
/** Bytes of one page; a single larger delivery still goes. */
const PAGE_BYTES = 16 * 1024 * 1024
/** How far before its events the bytes of a delivery may be. */
const SLACK = 100_000

export function exportDeliveries(connection: Connection, now: number, options: ExportOptions): ExportPage {
  return connection.read(() => {
    const range = seqRange(connection, options.from, options.to, options.source)
    if (range === null) return { deliveries: [], next: null }
    const deliveries: StoredDelivery[] = []
    let bytes = 0
    let from = Math.max(range.first, options.after + 1)
    for (let windows = 0; windows < WINDOWS; windows++) {
      const jumped = nextStored(connection, from)
      if (jumped === null || jumped > range.last) return { deliveries, next: null }
      from = jumped
      const rows = firstEvents(connection, options, from, options.limit - deliveries.length + 1)
      for (const row of rows) {
        bytes += Number(row.bytes)
        const full = deliveries.length === options.limit || (bytes > PAGE_BYTES && deliveries.length > 0)
        if (full) return { deliveries, next: Number(row.seq) - 1 }
        deliveries.push(deliveryOf(connection, now, row))
      }
      from += WINDOW
    }
    return { deliveries, next: from > range.last ? null : from - 1 }
  })
}

const nextPayload = 'select min(seq) as seq from hookonce_payloads where seq >= ?'

/** Where bytes are stored next, at or after this seq: what retention has cleared is not walked over. */
function nextStored(connection: Connection, from: number): number | null {
  const row = connection.prepare(nextPayload).get(Math.max(0, from - SLACK))
  return row === undefined || row.seq === null ? null : Math.max(from, Number(row.seq))
}

// A delivery is found by the first of its events that is still there.
const stored = `
  select e.seq, p.seq as payload_seq, e.source, e.received_at, length(p.body) + length(p.headers) as bytes
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where +e.source = ?1 and e.seq >= ?3 and e.seq < ?4 and e.received_at >= ?5 and e.received_at < ?6
    and (e.payload_seq is null or (
      not exists (select 1 from hookonce_events o where o.seq = e.payload_seq)
      and not exists (select 1 from hookonce_events o where o.payload_seq = e.payload_seq and o.seq < e.seq)))`
const all = `${stored} order by e.seq limit ?2`
const unarchived = `${stored} and p.seq not in (${archivedSeqs}) order by e.seq limit ?2`

function firstEvents(connection: Connection, options: ExportOptions, from: number, limit: number): Row[] {
  const { source, from: since, to } = options
  const find = options.unarchived ? unarchived : all
  return connection.prepare(find).all(source, limit, from, from + WINDOW, since, to)
}

const payloadBySeq = 'select headers, body from hookonce_payloads where seq = ?'
const eventsBySeq = `
  select e.seq, e.event_id, e.event_type, e.related_reference, e.content_hash, e.part, e.processing_state,
    w.token, w.next_at, w.attempt, w.base_attempt
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where e.seq = ?1 or e.payload_seq = ?1 order by e.part, e.seq`

function deliveryOf(connection: Connection, now: number, row: Row): StoredDelivery {
  const seq = Number(row.payload_seq)
  const payload = connection.prepare(payloadBySeq).get(seq)!
  return {
    seq,
    source: String(row.source),
    receivedAt: Number(row.received_at),
    headers: JSON.parse(String(payload.headers)),
    body: payload.body as Uint8Array,
    events: connection
      .prepare(eventsBySeq)
      .all(seq)
      .map((event) => storedEvent(event, now)),
  }
}

function storedEvent(row: Row, now: number): StoredEvent {
  return {
    seq: Number(row.seq),
    eventId: String(row.event_id),
    eventType: String(row.event_type),
    reference: textOrNull(row.related_reference),
    contentHash: hexOrNull(row.content_hash),
    part: Number(row.part),
    state: standing(row, now).state,
  }
}
