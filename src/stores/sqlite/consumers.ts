import { followedSource } from '../../model.js'
import type { Consumer, ConsumerCopy, NewConsumer } from '../../store.js'
import type { Connection } from './connection.js'
import { dueIn } from './lane.js'
import { rowsOf } from './rows.js'
import { hourBook, seqRange } from './stats.js'

const add = `
  insert into hookonce_consumers (source, position, started_at) values (?, ?, ?) on conflict (source) do nothing`
const lastSeq = "select seq from sqlite_sequence where name = 'hookonce_events'"
const firstSince = `
  select min(seq) as seq from hookonce_events where +source = ? and seq >= ? and received_at >= ?`

export function openConsumers(log: Connection, consumers: readonly NewConsumer[]): void {
  log.write(() => {
    for (const { source, from } of consumers) log.run(add, source, start(log, source, from), log.now)
  })
}

function start(log: Connection, source: string, from: NewConsumer['from']): number {
  const last = Number(log.get(lastSeq)?.seq ?? 0)
  if (from === 'now') return last
  const followed = followedSource(source)
  const range = seqRange(log, from, Number.MAX_SAFE_INTEGER, followed)
  const first = range && log.get(firstSince, followed, range.first, from)?.seq
  return first == null ? last : Number(first) - 1
}

const all = 'select source, position, started_at as startedAt from hookonce_consumers order by source'

export function listConsumers(log: Connection): Consumer[] {
  return rowsOf<Consumer>(log.all(all))
}

const move = 'update hookonce_consumers set position = ?3 where source = ?1 and position = ?2'
// A withheld event waits for the same decision at each consumer.
const copyEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, reference_label, content_hash, received_at,
    part, payload_seq, lane, processing_state, reason, processed_at, parked, withheld, same_as, origin)
  select ?1, e.event_id, e.event_type, e.related_reference, e.reference_label, e.content_hash, e.received_at, e.part,
    coalesce(e.payload_seq, e.seq), ?3, iif(e.withheld, 'ignored', 'pending'), iif(e.withheld, e.reason, null), iif(e.withheld, ?4, null),
    iif(e.withheld, 'ignored', null), e.withheld, iif(e.withheld, e.same_as, null), e.origin
  from hookonce_events e
  where e.seq = ?2 and e.erased_at is null
    and exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq))
  on conflict (source, event_id) do nothing
  returning seq, received_at, withheld`
const copyReferences = `
  insert into hookonce_event_references (seq, label, value)
  select ?2, label, value from hookonce_event_references where seq = ?1`
const insertWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?, ?, ?, 0, 0, ?)`

export function copyToConsumer(log: Connection, { source, from, to, events }: ConsumerCopy): boolean {
  return log.write(() => {
    if (log.run(move, source, from, to).changes === 0) return false
    const book = hourBook()
    for (const { seq, lane } of events) {
      const row = log.get(copyEvent, source, seq, lane, log.now)
      if (row === undefined) continue
      const copy = Number(row.seq)
      const receivedAt = Number(row.received_at)
      log.run(copyReferences, seq, copy)
      book.recorded(source, receivedAt, copy)
      if (row.withheld !== null) book.add(source, receivedAt, { ignored: 1 })
      else log.run(insertWork, copy, source, dueIn(log, source, lane, copy), lane)
    }
    book.write(log)
    return true
  })
}
