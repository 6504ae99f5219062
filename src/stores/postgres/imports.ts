import type { EventKey } from '../../model.js'
import type { ImportedEvent } from '../../store.js'
import { otherReferencesOf, ownLabelOf } from '../shared/references.js'
import type { Database } from './connection/database.js'
import { throwHookonceError } from './connection/failure.js'
import { joined, numbers, statement, texts } from './connection/statement.js'
import { countHours, countParked } from './hours.js'
import { inPartitions } from './partitions.js'
import { announced } from './record-sql.js'
import { insertReferences } from './references.js'

/**
 * $1-$4 source, event id, type, reference   $5 received at, ms   $6 processed at, ms   $7 parked   $8 reason   $9 headers
 * or null   $10 body offset (from 1)   $11 body length   $12 bodies, joined   $13 labels of references   $14 other references
 * (JSON) or null
 *
 * The unique index finds known events, and no look-up before it: a plan that was made while the statistics said that the log
 * is empty used another index, and read all of the log for each event.
 *
 * `attempts` is 0, not null: attempts of these events are no rows.
 */
const insertImported = statement('import')`
with input as materialized (
  select *, to_timestamp(received_ms / 1000.0) as received_at, to_timestamp(processed_ms / 1000.0) as processed_at
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::text[], $8::text[],
    $9::text[], $10::int[], $11::int[], $13::text[], $14::text[]) with ordinality
    as i (source, event_id, event_type, reference, received_ms, processed_ms, parked, reason, headers, at, length, label, rows, n)
),
${announced},
numbered as materialized (
  select f.*, nextval((select sequence from announced)) as seq from (select * from input order by n) f
),
added as (
  insert into hookonce.events (seq, batch, received_at, processed_at, source, event_id, event_type, related_reference,
    reference_label, parked, reason, attempts, origin)
  select seq, 0, received_at, processed_at, source, event_id, event_type, reference, label, parked, reason, 0, 'import'
  from numbered order by source, event_id, n
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  -- Not a join, which the planner may run as a nested loop: it does not know how many events there are.
  select * from numbered where (seq in (select seq from added)) is true
),
kept as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select seq, received_at, source, headers, substring($12::bytea from at for length) from placed where headers is not null
),
referred as (${insertReferences('select seq, rows from placed where rows is not null')}
),
counted as (${countHours('placed', { recorded: 'count(*)', ignored: countParked('ignored'), dead: countParked('dead') })}
)
select n::int from placed`

const DAY_MS = 86_400_000
const parkedAs = { succeeded: null, ignored: 'ignored', failed: 'dead' } as const

export async function importEvents(db: Database, events: readonly ImportedEvent[]): Promise<boolean[]> {
  const kept = events.filter(({ payload }) => payload !== null)
  let next = 1
  const places = events.map(({ payload }) => {
    const at = next
    next += payload?.body.byteLength ?? 0
    return at
  })
  const values = [
    texts(events.map(({ source }) => source)),
    texts(events.map(({ id }) => id)),
    texts(events.map(({ type }) => type)),
    texts(events.map(({ reference }) => reference)),
    numbers(events.map(({ receivedAt }) => Math.trunc(receivedAt))),
    numbers(events.map(({ processedAt, receivedAt }) => Math.trunc(processedAt ?? receivedAt))),
    texts(events.map(({ state }) => parkedAs[state])),
    texts(events.map(({ reason }) => reason)),
    texts(events.map(({ payload }) => payload && JSON.stringify(payload.headers))),
    numbers(places),
    numbers(events.map(({ payload }) => payload?.body.byteLength ?? 0)),
    joined(kept.length === 0 ? [new Uint8Array()] : kept.map(({ payload }) => payload!.body)),
    texts(events.map(ownLabelOf)),
    texts(events.map(otherReferencesOf)),
  ]
  const days = () => kept.map(({ receivedAt }) => Math.floor(receivedAt / DAY_MS) * DAY_MS)
  const rows = await inPartitions(db, days, () => db.send<{ n: number }>(insertImported, values)).catch(
    throwHookonceError,
  )
  const added = new Set(rows.map(({ n }) => n))
  return events.map((_, i) => added.has(i + 1))
}

/** $1 sources   $2 event ids */
const findKnown = statement('import_known')`
select i.n::int from unnest($1::text[], $2::text[]) with ordinality as i (source, event_id, n)
cross join lateral (
  select 1 from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
) e`

export async function knownEvents(db: Database, keys: readonly EventKey[]): Promise<boolean[]> {
  const values = [texts(keys.map(({ source }) => source)), texts(keys.map(({ id }) => id))]
  const known = new Set((await db.read<{ n: number }>(findKnown, values)).map(({ n }) => n))
  return keys.map((_, i) => known.has(i + 1))
}
