/** export: stored deliveries in the order they entered the log, bounded in rows looked at and in bytes. */
import type { State } from '../../model.js'
import type { ExportOptions, ExportPage, StoredDelivery, StoredEvent } from '../../store.js'
import { archivedSeqs } from './archived.js'
import type { Database, Statement } from './database.js'
import { numbers } from './parameters.js'
import { stateOf } from './state.js'
import { seqRange } from './sweep.js'

const WINDOW = 20_000
const WINDOWS = 10
/** Bytes of one page; a single larger delivery still goes. */
const PAGE_BYTES = 16 * 1024 * 1024
/**
 * How far before its events the number of a delivery's bytes may be. It is taken a statement before theirs, so this many
 * events would have to be recorded between the two.
 */
const SLACK = 1_000_000

/** $1 from, ms   $2 to, ms   $3 seq */
const nextPayload: Statement = {
  name: 'export_next',
  sql: `
select seq from hookonce.payloads
where received_at >= to_timestamp($1::float8 / 1000) and received_at < to_timestamp($2::float8 / 1000) and seq >= $3
order by seq limit 1`,
}

/**
 * $1 source   $2 limit   $3 from seq   $4 to seq   $5 from, ms   $6 to, ms. A delivery is found by the first of its events
 * that is still there. The rows with bytes stop where the page is full; the one after them says where the next begins.
 */
const stored = `
select e.seq, p.seq as payload_seq,
  sum(octet_length(p.body) + octet_length(p.headers)) over (order by e.seq)::float8 as bytes
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.seq >= $3 and e.seq < $4
  and e.received_at >= to_timestamp($5::float8 / 1000) and e.received_at < to_timestamp($6::float8 / 1000)
  and not exists (select 1 from hookonce.events o where o.payload_seq = e.payload_seq and o.seq < e.seq)`

const findAll: Statement = { name: 'export_find', sql: `${stored} order by e.seq limit $2` }
const findUnarchived: Statement = {
  name: 'export_find_unarchived',
  sql: `${stored} and p.seq not in (${archivedSeqs}) order by e.seq limit $2`,
}

/** $1 seqs of their first events */
const read: Statement = {
  name: 'export_read',
  sql: `
select p.seq, p.source, p.received_at, p.headers, p.body
from unnest($1::bigint[]) with ordinality as i (seq, n)
join hookonce.events e on e.seq = i.seq
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
order by i.n`,
}

/** $1 seqs of payloads */
const readEvents: Statement = {
  name: 'export_events',
  sql: `
select coalesce(e.payload_seq, e.seq) as payload_seq, e.seq, e.event_id, e.event_type, e.related_reference,
  encode(e.content_hash, 'hex') as content_hash, e.part, ${stateOf} as state
from (
  select * from hookonce.events where seq = any($1::bigint[]) and payload_seq is null
  union all select * from hookonce.events where payload_seq = any($1::bigint[])
) e
left join hookonce.work w on w.seq = e.seq
order by e.part, e.seq`,
}

interface Found {
  seq: number
  payload_seq: number
  bytes: number
}

export async function exportDeliveries(db: Database, options: ExportOptions): Promise<ExportPage> {
  const { source, from: since, to, limit } = options
  const range = await seqRange(db.read, source, since, to)
  if (range === null) return { deliveries: [], next: null }
  let from = Math.max(range.first, options.after + 1)
  for (let windows = 0; windows < WINDOWS; windows++) {
    const [next] = await db.read<{ seq: number }>(nextPayload, [since, to, Math.max(0, from - SLACK)])
    from = Math.max(from, next?.seq ?? Number.POSITIVE_INFINITY)
    if (from > range.last) return { deliveries: [], next: null }
    const find = options.unarchived ? findUnarchived : findAll
    const found = await db.read<Found>(find, [source, limit + 1, from, from + WINDOW, since, to])
    const page = found.filter((row, i) => i < limit && (i === 0 || row.bytes <= PAGE_BYTES))
    if (page.length > 0) {
      const rest = found[page.length]
      const end = from + WINDOW > range.last ? null : from + WINDOW - 1
      return { deliveries: await deliveriesOf(db, page), next: rest ? rest.seq - 1 : end }
    }
    from += WINDOW
  }
  return { deliveries: [], next: from > range.last ? null : from - 1 }
}

async function deliveriesOf(db: Database, page: readonly Found[]): Promise<StoredDelivery[]> {
  const events = new Map<number, StoredEvent[]>()
  for (const row of await db.read<EventRow>(readEvents, [numbers(page.map((one) => one.payload_seq))])) {
    const list = events.get(row.payload_seq) ?? []
    events.set(row.payload_seq, list)
    list.push(asStored(row))
  }
  const rows = await db.read<PayloadRow>(read, [numbers(page.map((one) => one.seq))])
  return rows.map((row) => ({
    seq: row.seq,
    source: row.source,
    receivedAt: row.received_at,
    headers: JSON.parse(row.headers) as Record<string, string>,
    body: row.body,
    events: events.get(row.seq) ?? [],
  }))
}

interface PayloadRow {
  seq: number
  source: string
  received_at: number
  headers: string
  body: Buffer
}

interface EventRow {
  payload_seq: number
  seq: number
  event_id: string
  event_type: string
  related_reference: string | null
  content_hash: string | null
  part: number
  state: State
}

function asStored(row: EventRow): StoredEvent {
  return {
    seq: row.seq,
    eventId: row.event_id,
    eventType: row.event_type,
    reference: row.related_reference,
    contentHash: row.content_hash,
    part: row.part,
    state: row.state,
  }
}
