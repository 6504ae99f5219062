import type {
  ArchiveDay,
  ArchivedIn,
  ArchiveReceipt,
  EraseOptions,
  EraseResult,
  ExportOptions,
  ExportPage,
  StoredDelivery,
} from '../../store.js'
import { asStored } from '../shared/event-record.js'
import { writeAudit } from './audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { hasReference, referenceRows } from './references.js'
import { hexOf, hexOrNull, rowsOf, stateAt } from './rows.js'
import { seqRange } from './stats.js'

const insertReceipt = `
  insert into hookonce_archived (source, day, object, first_seq, last_seq, seqs, sha256) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (source, day, object) do update set first_seq = excluded.first_seq, last_seq = excluded.last_seq,
    seqs = excluded.seqs, sha256 = excluded.sha256`

export function archived(log: Connection, receipts: readonly ArchiveReceipt[]): void {
  log.write(() => {
    for (const { source, day, object, seqs, sha256 } of receipts) {
      const sorted = [...seqs].sort((a, b) => a - b)
      log.run(insertReceipt, source, day, object, sorted[0]!, sorted.at(-1)!, JSON.stringify(sorted), sha256)
    }
  })
}

const receiptsOfDay = `
  select object, seqs, sha256 from hookonce_archived where source = ? and day = ? order by object`

export function receipts(log: Connection, { source, day }: ArchiveDay): ArchiveReceipt[] {
  const rows = log.all(receiptsOfDay, source, day)
  return rows.map(({ object, seqs, sha256 }) => ({
    source,
    day,
    object: Number(object),
    seqs: JSON.parse(String(seqs)),
    sha256: String(sha256),
  }))
}

/**
 * Selects the seqs of archived payloads, in a statement about the events ?3 to ?4 of source ?1. A payload is stored under
 * the seq of the first event of its delivery, so its seq may be lower than ?3.
 */
export const archivedSeqs = `
  select j.value from hookonce_archived a, json_each(a.seqs) j
  where a.source = ?1 and a.last_seq >= ?3 - 100000 and a.first_seq < ?4`

const deleteReceipts = 'delete from hookonce_archived where source = ? and day < ?'

export function forgetReceipts(log: Connection, source: string, before: number): void {
  log.run(deleteReceipts, source, new Date(before).toISOString().slice(0, 10))
}

/** One query reads this many seqs, and one page makes this many queries. */
const WINDOW = 10_000
const WINDOWS = 10
const PAGE_BYTES = 16 * 1024 * 1024
/** A payload has a seq at most this much lower than an event of its delivery. */
const SLACK = 100_000

export function exportDeliveries(log: Connection, options: ExportOptions): ExportPage {
  return log.read(() => {
    const range = seqRange(log, options.from, options.to, options.source)
    if (range === null) return { deliveries: [], next: null }
    const deliveries: StoredDelivery[] = []
    let bytes = 0
    let from = Math.max(range.first, options.after + 1)
    for (let windows = 0; windows < WINDOWS; windows++) {
      const jumped = nextStored(log, from)
      if (jumped === null || jumped > range.last) return { deliveries, next: null }
      from = jumped
      const rows = firstEvents(log, options, from, options.limit - deliveries.length + 1)
      for (const row of rows) {
        bytes += Number(row.bytes)
        const full = deliveries.length === options.limit || (bytes > PAGE_BYTES && deliveries.length > 0)
        if (full) return { deliveries, next: Number(row.seq) - 1 }
        deliveries.push(deliveryOf(log, row))
      }
      from += WINDOW
    }
    return { deliveries, next: from > range.last ? null : from - 1 }
  })
}

const nextPayload = 'select min(seq) as seq from hookonce_payloads where seq >= ?'

/** The next seq that may have a payload: retention clears long stretches. */
function nextStored(log: Connection, from: number): number | null {
  const row = log.get(nextPayload, Math.max(0, from - SLACK))
  return row === undefined || row.seq === null ? null : Math.max(from, Number(row.seq))
}

// A delivery is found by the first of its events that has not been removed.
const storedDeliveries = `
  select e.seq, p.seq as payload_seq, e.source, e.received_at, length(p.body) + length(p.headers) as bytes
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where +e.source = ?1 and e.seq >= ?3 and e.seq < ?4 and e.received_at >= ?5 and e.received_at < ?6
    and (e.payload_seq is null or (
      not exists (select 1 from hookonce_events o where o.seq = e.payload_seq)
      and not exists (select 1 from hookonce_events o where o.payload_seq = e.payload_seq and o.seq < e.seq)))`
const allDeliveries = `${storedDeliveries} order by e.seq limit ?2`
const unarchivedDeliveries = `${storedDeliveries} and p.seq not in (${archivedSeqs}) order by e.seq limit ?2`

function firstEvents(log: Connection, options: ExportOptions, from: number, limit: number): Row[] {
  const { source, from: since, to } = options
  const find = options.unarchived ? unarchivedDeliveries : allDeliveries
  return log.all(find, source, limit, from, from + WINDOW, since, to)
}

const payloadBySeq = 'select headers, body from hookonce_payloads where seq = ?'
const eventsBySeq = `
  select e.seq, e.event_id as id, e.event_type as type, e.related_reference as reference, e.reference_label,
    ${referenceRows} as other_references,
    ${hexOf('e.content_hash')} as contentHash, e.part, ${stateAt('?2')} as state
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where (e.seq = ?1 or e.payload_seq = ?1) and +e.source = ?3 order by e.part, e.seq`

function deliveryOf(log: Connection, row: Row): StoredDelivery {
  const seq = Number(row.payload_seq)
  const payload = log.get(payloadBySeq, seq)!
  return {
    seq,
    source: String(row.source),
    receivedAt: Number(row.received_at),
    headers: JSON.parse(String(payload.headers)),
    body: payload.body as Uint8Array,
    events: rowsOf<Parameters<typeof asStored>[0]>(log.all(eventsBySeq, seq, log.now, row.source!)).map(
      asStored,
    ),
  }
}

export function restore(log: Connection, deliveries: readonly StoredDelivery[]): boolean[] {
  return log.write(() => deliveries.map((delivery) => restoreDelivery(log, delivery)))
}

const eventByKey = `
  select coalesce(payload_seq, seq) as payload_seq, received_at, content_hash, erased_at
  from hookonce_events where source = ? and event_id = ?`
const insertPayload = `
  insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?) on conflict (seq) do nothing`

function restoreDelivery(log: Connection, delivery: StoredDelivery): boolean {
  const { source, events, receivedAt, headers, body } = delivery
  const found: Row[] = []
  for (const { id, contentHash } of events) {
    const row = log.get(eventByKey, source, id)
    if (row === undefined) continue
    const same = Number(row.received_at) === receivedAt && hexOrNull(row.content_hash) === contentHash
    if (!same || row.erased_at !== null) return false
    found.push(row)
  }
  const [first] = found
  if (first === undefined || found.some((row) => row.payload_seq !== first.payload_seq)) return false
  const put = log.prepare(insertPayload)
  return put.run(first.payload_seq!, receivedAt, JSON.stringify(headers), body).changes === 1
}

export function erase(log: Connection, options: EraseOptions): EraseResult {
  return log.write(() => {
    const { deliveries, more, busy } = erasable(log, options)
    const archived = archivedIn(log, deliveries)
    let payloads = 0
    let events = 0
    for (const seq of deliveries) {
      payloads += Number(log.run(deletePayload, seq).changes)
      log.run(clearConflicts, seq)
      log.run(unlink, seq)
      log.run(forgetErrors, seq)
      log.run(forgetResults, seq)
      for (const event of log.all(stampEvents, seq, log.now)) {
        events++
        auditErasure(log, options, event)
      }
    }
    if (events === 0) auditErasure(log, options, null)
    return { payloads, events, busy, archived, more }
  })
}

export function countErasable(log: Connection, options: EraseOptions): EraseResult {
  return log.read(() => {
    const { deliveries, more, busy } = erasable(log, options)
    const count = (sql: string) => Number(log.get(sql, JSON.stringify(deliveries))?.number ?? 0)
    const archived = archivedIn(log, deliveries)
    return { payloads: count(countPayloads), events: count(countEvents), busy, archived, more }
  })
}

// A conflict that was run has a payload of its own, and the first one may be archived under the seq of the event.
const objects = `
  select distinct a.source, a.day, a.object from hookonce_events e
  join hookonce_archived a on a.source = e.source and a.first_seq <= max(e.seq, coalesce(e.payload_seq, 0))
    and a.last_seq >= min(e.seq, coalesce(e.payload_seq, e.seq))
  where (e.seq = ?1 or e.payload_seq = ?1) and e.erased_at is null
    and exists (select 1 from json_each(a.seqs) j where j.value in (e.seq, e.payload_seq))
  order by a.source, a.day, a.object`

function archivedIn(log: Connection, deliveries: readonly number[]): ArchivedIn[] {
  const found = deliveries.flatMap((seq) => rowsOf<ArchivedIn>(log.all(objects, seq)))
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()]
}

const deletePayload = 'delete from hookonce_payloads where seq = ?'
const clearConflicts = `
  update hookonce_conflicts set headers = null, body = null where seq in (select seq from hookonce_events where seq = ?1 or payload_seq = ?1)`
const unlink = `
  delete from hookonce_event_references
  where seq in (select seq from hookonce_events where seq = ?1 or payload_seq = ?1)`
// Both may quote the payload.
const forgetErrors = `
  update hookonce_attempts set detail = null where outcome = 'failed'
    and seq in (select seq from hookonce_events where seq = ?1 or payload_seq = ?1)`
const forgetResults = `
  update hookonce_effects set result = 'null' where result is not null
    and seq in (select seq from hookonce_events where seq = ?1 or payload_seq = ?1)`
const stampEvents = `
  update hookonce_events set erased_at = ?2, reason = iif(parked = 'ignored', reason, null)
  where (seq = ?1 or payload_seq = ?1) and erased_at is null
  returning source, event_id`
const countPayloads = `
  select count(*) as number from hookonce_payloads where seq in (select value from json_each(?))`
const countEvents = `
  select count(*) as number from hookonce_events
  where erased_at is null
    and (seq in (select value from json_each(?1)) or payload_seq in (select value from json_each(?1)))`

// ?1 reference   ?2 source or null   ?3 now   ?4 limit   ?5 label or null. A delivery is needed while one of its events is being processed,
// or an event of another reference is unfinished: without the payload that event could never be handled.
const deliveriesOf = (needed: 'exists' | 'not exists') => `
  select distinct coalesce(e.payload_seq, e.seq) as seq from hookonce_events e
  where e.seq in (
      select seq from hookonce_events where related_reference = ?1 and (?5 is null or reference_label = ?5)
      union select seq from hookonce_event_references where value = ?1 and (?5 is null or label = ?5))
    and (?2 is null or e.source = ?2) and e.erased_at is null
    and ${needed} (
      select 1 from hookonce_events o left join hookonce_work w on w.seq = o.seq
      where (o.seq = coalesce(e.payload_seq, e.seq) or o.payload_seq = coalesce(e.payload_seq, e.seq))
        and ((w.token is not null and w.next_at > ?3)
          or (${hasReference('o', '?1', '?5')} is not true and o.processing_state not in ('succeeded', 'ignored'))))
  limit ?4`
const freeDeliveries = deliveriesOf('not exists')
const neededDeliveries = deliveriesOf('exists')

function erasable(log: Connection, { reference, label, source, limit }: EraseOptions) {
  const find = (sql: string, most: number) =>
    log.all(sql, reference, source ?? null, log.now, most, label ?? null)
  const rows = find(freeDeliveries, limit + 1)
  return {
    deliveries: rows.slice(0, limit).map((row) => Number(row.seq)),
    more: rows.length > limit,
    busy: find(neededDeliveries, limit).length,
  }
}

function auditErasure(log: Connection, options: EraseOptions, event: Row | null): void {
  const { actor, note, reference, source = null } = options
  const entry = event
    ? { source: String(event.source), eventId: String(event.event_id), note }
    : { source, eventId: null, note: `nothing found for reference "${reference}": ${note}` }
  writeAudit(log, { actor, verb: 'erase', ...entry })
}
