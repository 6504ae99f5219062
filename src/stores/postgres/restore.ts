/** restore: puts bytes back that retention removed, under the events that are still there. */
import type { StoredDelivery } from '../../store.js'
import type { Database, Run, Statement } from './database.js'
import { numbers, texts } from './parameters.js'
import { ensurePartitions, type PartitionUnit } from './partitions.js'

/**
 * $1 sources   $2 event ids   $3 delivery (from 1)   $4 received at, ms   $5 content hashes. Locked, so that neither an
 * erasure nor retention takes the event in between.
 */
const find: Statement = {
  name: 'restore_find',
  sql: `
select i.d::int, coalesce(e.payload_seq, e.seq) as payload_seq, e.received_at::text as received_at,
  (e.erased_at is null and (encode(e.content_hash, 'hex') collate "C") is not distinct from i.hash
    and trunc(extract(epoch from e.received_at) * 1000) = i.received_ms) as fits
from unnest($1::text[], $2::text[], $3::int[], $4::float8[], $5::text[]) as i (source, event_id, d, received_ms, hash)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id
order by e.seq
for share of e`,
}

/** $1 seq   $2 received at, as text: with its microseconds   $3 source   $4 headers   $5 body */
const put: Statement = {
  name: 'restore_put',
  sql: `
insert into hookonce.payloads (seq, received_at, source, headers, body) values ($1, $2::timestamptz, $3, $4, $5)
on conflict do nothing returning 1`,
}

interface Found {
  d: number
  payload_seq: number
  received_at: string
  fits: boolean
}

export async function restore(
  db: Database,
  unit: PartitionUnit,
  deliveries: readonly StoredDelivery[],
): Promise<boolean[]> {
  for (const at of new Set(deliveries.map((delivery) => Math.floor(delivery.receivedAt / DAY_MS) * DAY_MS)))
    await db.query(ensurePartitions, [at, 0, unit])
  return db.atomic(async (run) => {
    const places = placesOf(await findEvents(run, deliveries))
    const results: boolean[] = []
    for (const [i, { source, headers, body }] of deliveries.entries()) {
      const place = places.get(i + 1)
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      const rows = place
        ? await run(put, [place.payload_seq, place.received_at, source, JSON.stringify(headers), bytes])
        : []
      results.push(rows.length === 1)
    }
    return results
  })
}

const DAY_MS = 86_400_000

function findEvents(run: Run, deliveries: readonly StoredDelivery[]): Promise<Found[]> {
  const events = deliveries.flatMap((delivery, i) =>
    delivery.events.map((event) => ({ ...event, delivery, d: i + 1 })),
  )
  return run<Found>(find, [
    texts(events.map((event) => event.delivery.source)),
    texts(events.map((event) => event.eventId)),
    numbers(events.map((event) => event.d)),
    numbers(events.map((event) => event.delivery.receivedAt)),
    texts(events.map((event) => event.contentHash)),
  ])
}

/** Where the bytes of each delivery belong, if all its events that are still there agree. */
function placesOf(found: readonly Found[]): Map<number, Found> {
  const places = new Map<number, Found>()
  const refused = new Set<number>()
  for (const row of found) {
    const first = places.get(row.d) ?? row
    if (!row.fits || first.payload_seq !== row.payload_seq) refused.add(row.d)
    places.set(row.d, first)
  }
  for (const d of refused) places.delete(d)
  return places
}
