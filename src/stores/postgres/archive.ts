import type {
  ArchiveDay,
  ArchiveReceipt,
  ExportOptions,
  ExportPage,
  StoredDelivery,
  StoredEvent,
} from '../../store.js'
import { asStored } from '../shared/event-record.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, statement, texts } from './connection/statement.js'
import { seqRange } from './hours.js'
import { ensurePartitions } from './partitions.js'
import { type HeadersAsText, withHeaders } from './read.js'
import { referenceRows } from './references.js'
import { stateOf } from './work.js'

/** For events $3 to $4 of source $1: only the receipts of the days on which they were received are read. */
export const archivedSeqs = `
  select unnest(a.seqs) from hookonce.archived a where a.source = $1
    and a.day >= (select (min(d.received_at) at time zone 'utc')::date from hookonce.events d
      where d.seq >= $3 and d.seq < $4 and d.source = $1)
    and a.day <= (select (max(d.received_at) at time zone 'utc')::date from hookonce.events d
      where d.seq >= $3 and d.seq < $4 and d.source = $1)`

/** In seqs. One call sends at most `WINDOWS` statements. */
const WINDOW = 20_000
const WINDOWS = 10
/** A page with only one delivery may be larger. */
const PAGE_BYTES = 16 * 1024 * 1024
/** A payload’s seq is reserved one statement before those of its events. No more events than this come in between. */
const RESERVED_BELOW = 1_000_000

/** $1 from, ms   $2 to, ms   $3 seq */
const nextPayload = statement('export_next')`
select seq from hookonce.payloads
where received_at >= to_timestamp($1::float8 / 1000) and received_at < to_timestamp($2::float8 / 1000) and seq >= $3
order by seq limit 1`

/**
 * $1 source   $2 limit   $3 from seq   $4 to seq   $5 from, ms   $6 to, ms. A delivery is found by its first event that
 * still exists. One row more than the page gives the position of the next page.
 */
const stored = `
select e.seq, p.seq as payload_seq,
  sum(octet_length(p.body) + octet_length(p.headers)) over (order by e.seq)::float8 as bytes
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.seq >= $3 and e.seq < $4
  and e.received_at >= to_timestamp($5::float8 / 1000) and e.received_at < to_timestamp($6::float8 / 1000)
  and not exists (select 1 from hookonce.events o where o.payload_seq = e.payload_seq and o.seq < e.seq)`

const findAll = statement('export_find')`${stored} order by e.seq limit $2`
const findUnarchived = statement(
  'export_find_unarchived',
)`${stored} and p.seq not in (${archivedSeqs}) order by e.seq limit $2`

/** $1 seqs: the first event of each delivery */
const readPayloads = statement('export_read')`
select p.seq, p.source, p.received_at as "receivedAt", p.headers, p.body
from unnest($1::bigint[]) with ordinality as i (seq, n)
join hookonce.events e on e.seq = i.seq
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
order by i.n`

/** $1 seqs of payloads   $2 source: consumers share the payloads */
const readEvents = statement('export_events')`
select coalesce(e.payload_seq, e.seq) as payload_seq, e.seq, e.event_id as id, e.event_type as type,
  e.related_reference as reference, e.reference_label, ${referenceRows} as other_references, encode(e.content_hash, 'hex') as "contentHash", e.part, ${stateOf} as state
from (
  select * from hookonce.events where seq = any($1::bigint[]) and payload_seq is null
  union all select * from hookonce.events where payload_seq = any($1::bigint[])
) e
left join hookonce.work w on w.seq = e.seq
where e.source = $2
order by e.part, e.seq`

interface FoundEventRow extends Omit<StoredEvent, 'references'> {
  readonly payload_seq: number
  readonly reference_label: string | null
  readonly other_references: string | null
}

interface FoundDelivery {
  seq: number
  payload_seq: number
  bytes: number
}

export async function exportDeliveries(db: Database, options: ExportOptions): Promise<ExportPage> {
  const { source, from: since, to, limit } = options
  const range = await seqRange(db.read, since, to, source)
  if (range === null) return { deliveries: [], next: null }
  let from = Math.max(range.first, options.after + 1)
  for (let windows = 0; windows < WINDOWS; windows++) {
    const [next] = await db.read<{ seq: number }>(nextPayload, [
      since,
      to,
      Math.max(0, from - RESERVED_BELOW),
    ])
    from = Math.max(from, next?.seq ?? Number.POSITIVE_INFINITY)
    if (from > range.last) return { deliveries: [], next: null }
    const find = options.unarchived ? findUnarchived : findAll
    const found = await db.read<FoundDelivery>(find, [source, limit + 1, from, from + WINDOW, since, to])
    const page = found.filter((row, i) => i < limit && (i === 0 || row.bytes <= PAGE_BYTES))
    if (page.length > 0) {
      const rest = found[page.length]
      const end = from + WINDOW > range.last ? null : from + WINDOW - 1
      return { deliveries: await deliveriesOf(db, source, page), next: rest ? rest.seq - 1 : end }
    }
    from += WINDOW
  }
  return { deliveries: [], next: from > range.last ? null : from - 1 }
}

async function deliveriesOf(
  db: Database,
  source: string,
  page: readonly FoundDelivery[],
): Promise<StoredDelivery[]> {
  const events = new Map<number, StoredEvent[]>()
  const found = await db.read<FoundEventRow>(readEvents, [
    numbers(page.map((delivery) => delivery.payload_seq)),
    source,
  ])
  for (const { payload_seq: seq, ...row } of found) {
    const event = asStored(row)
    const list = events.get(seq)
    if (list) list.push(event)
    else events.set(seq, [event])
  }
  const rows = await db.read<HeadersAsText<Omit<StoredDelivery, 'events'>>>(readPayloads, [
    numbers(page.map((delivery) => delivery.seq)),
  ])
  return rows.map((row) => ({
    ...withHeaders<Omit<StoredDelivery, 'events'>>(row),
    events: events.get(row.seq) ?? [],
  }))
}

/** $1 source   $2 day   $3 object   $4 seqs   $5 digest */
const writeReceipt = statement('archived_receipt')`
insert into hookonce.archived (source, day, object, seqs, sha256) values ($1, $2::date, $3, $4::bigint[], $5)
on conflict (source, day, object) do update set seqs = excluded.seqs, sha256 = excluded.sha256`

/** $1 source   $2 day */
const receiptsOfDay = statement('archived_receipts')`
select object, array_to_json(seqs)::text as seqs, sha256 from hookonce.archived
where source = $1 and day = $2::date order by object`

export async function receiptsOf(db: Database, { source, day }: ArchiveDay): Promise<ArchiveReceipt[]> {
  const rows = await db.read<{ object: number; seqs: string; sha256: string }>(receiptsOfDay, [source, day])
  return rows.map((row) => ({ ...row, source, day, seqs: JSON.parse(row.seqs) as number[] }))
}

export function archived(db: Database, receipts: readonly ArchiveReceipt[]): Promise<void> {
  return db.atomic(async (run) => {
    for (const { source, day, object, seqs, sha256 } of receipts)
      await run(writeReceipt, [source, day, object, numbers(seqs), sha256])
  })
}

/**
 * $1 sources   $2 event ids   $3 delivery (from 1)   $4 received at, ms   $5 content hashes. The lock keeps erasure and
 * retention from removing the event before its payload is written.
 */
const findEvents = statement('restore_find')`
select i.d::int, coalesce(e.payload_seq, e.seq) as payload_seq, e.received_at::text as received_at,
  (e.erased_at is null and (encode(e.content_hash, 'hex') collate "C") is not distinct from i.hash
    and trunc(extract(epoch from e.received_at) * 1000) = i.received_ms) as fits
from unnest($1::text[], $2::text[], $3::int[], $4::float8[], $5::text[]) as i (source, event_id, d, received_ms, hash)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id
order by e.seq
for share of e`

/** $1 seq   $2 received at, a text with microseconds   $3 source   $4 headers   $5 body */
const putPayload = statement('restore_put')`
insert into hookonce.payloads (seq, received_at, source, headers, body) values ($1, $2::timestamptz, $3, $4, $5)
on conflict do nothing returning 1`

interface FoundEvent {
  d: number
  payload_seq: number
  received_at: string
  fits: boolean
}

export async function restore(db: Database, deliveries: readonly StoredDelivery[]): Promise<boolean[]> {
  for (const at of new Set(deliveries.map((delivery) => Math.floor(delivery.receivedAt / DAY_MS) * DAY_MS)))
    await db.query(ensurePartitions, [at, 0, db.partitions])
  return db.atomic(async (run) => {
    const places = placesOf(await eventsOf(run, deliveries))
    const results: boolean[] = []
    for (const [i, { source, headers, body }] of deliveries.entries()) {
      const place = places.get(i + 1)
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      const rows = place
        ? await run(putPayload, [
            place.payload_seq,
            place.received_at,
            source,
            JSON.stringify(headers),
            bytes,
          ])
        : []
      results.push(rows.length === 1)
    }
    return results
  })
}

const DAY_MS = 86_400_000

function eventsOf(run: Run, deliveries: readonly StoredDelivery[]): Promise<FoundEvent[]> {
  const events = deliveries.flatMap((delivery, i) =>
    delivery.events.map((event) => ({ ...event, delivery, d: i + 1 })),
  )
  return run<FoundEvent>(findEvents, [
    texts(events.map((event) => event.delivery.source)),
    texts(events.map((event) => event.id)),
    numbers(events.map((event) => event.d)),
    numbers(events.map((event) => event.delivery.receivedAt)),
    texts(events.map((event) => event.contentHash)),
  ])
}

/** All events of the delivery that still exist must have the same place. */
function placesOf(found: readonly FoundEvent[]): Map<number, FoundEvent> {
  const places = new Map<number, FoundEvent>()
  const refused = new Set<number>()
  for (const row of found) {
    const first = places.get(row.d) ?? row
    if (!row.fits || first.payload_seq !== row.payload_seq) refused.add(row.d)
    places.set(row.d, first)
  }
  for (const d of refused) places.delete(d)
  return places
}
