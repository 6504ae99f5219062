/** The statements of record: one for a whole batch, and what it needs beside it. */
import type { State } from '../../model.js'
import type { Statement } from './database.js'
import { stateOf } from './state.js'

/*
 * $1-$4 source, event id, type, reference   $5 part   $6 delivery (from 1)   $7 reserved payload seq or null
 * $8 content hashes, joined   $9 has content hash   $10 guard hashes, joined   $11 has guard hash
 * per delivery: $12 received at (ms or null)   $13 headers   $14 reject replayed content   $15 body offset (from 1)
 * $16 body length   $17 bodies, joined   $18 batch   $19 lanes (per event)   $20 slot
 *
 * Bytes travel as one binary value and are cut here: an array of bytea would travel as hexadecimal text.
 * The look-up is lateral with a limit so that it can only be done through the index, row by row: a plan made while
 * the table was small must not become a scan of it when it has grown.
 * A number is taken only after the statement has said, by a lock that ends with its transaction, which number was the
 * last before: a reader that follows the log stops there until this one has committed. The sequence is handed out by
 * that announcement, so that no plan can ask for a number first.
 * Rows are inserted in key order so that two batches with the same keys wait for each other instead of dead-locking.
 */
export const insert: Statement = {
  name: 'record',
  sql: `
with input as materialized (
  select n, source, event_id, event_type, reference, lane, part, d, payload_seq,
    case when hashed then substring($8::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    case when guarded then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as guard_hash
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::bigint[], $9::bool[], $11::bool[],
    $19::text[])
    with ordinality as i (source, event_id, event_type, reference, part, d, payload_seq, hashed, guarded, lane, n)
),
delivery as materialized (
  select d, coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at, headers, reject, at, length
  from unnest($12::float8[], $13::text[], $14::bool[], $15::int[], $16::int[])
    with ordinality as i (received_ms, headers, reject, at, length, d)
),
known as materialized (
  select i.n, e.seq, e.content_hash, e.batch = $18::bigint as ours, e.parked, w.seq is null as final, ${stateOf} as state
  from input i
  cross join lateral (
    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
  ) e
  left join hookonce.work w on w.seq = e.seq
),
fresh as materialized (
  select i.*, d.received_at, d.reject from input i join delivery d on d.d = i.d
  where i.n not in (select n from known)
),
guarding as (
  insert into hookonce.guards (source, guard_hash, event_id)
  select source, guard_hash, event_id from fresh where guard_hash is not null order by source, guard_hash, n
  on conflict do nothing
  returning source, guard_hash, event_id
),
judged as materialized (
  select f.*, f.guard_hash is not null and g.event_id is null as replayed
  from fresh f
  left join guarding g on g.source = f.source and g.guard_hash = f.guard_hash and g.event_id = f.event_id
),
announced as materialized (
  select 'hookonce.event_seq'::regclass as sequence, pg_advisory_xact_lock_shared(
    'hookonce.event_seq'::regclass::oid::int, (case when is_called then last_value else 0 end << 32 >> 32)::int)
  from hookonce.event_seq
),
numbered as materialized (
  -- In the order of arrival, whatever the order of insertion: seq is what lanes and lists go by.
  select j.*, nextval((select sequence from announced)) as seq
  from (select * from judged where not (replayed and reject) order by n) j
),
added as (
  insert into hookonce.events (seq, payload_seq, batch, received_at, part, source, event_id, event_type, related_reference,
    content_hash, guard_hash, lane, parked, reason, processed_at)
  select seq, payload_seq, $18::bigint, received_at, part, source, event_id, event_type, reference, content_hash, guard_hash, lane,
    case when replayed then 'ignored' end, case when replayed then 'replayed_content' end, case when replayed then hookonce.clock() end
  from numbered
  order by source, event_id
  on conflict (source, event_id) do nothing
  returning seq, source, event_id, received_at, parked
),
placed as materialized (
  select i.n, i.d, i.part, a.seq, i.payload_seq, a.source, a.received_at, a.parked, i.content_hash, i.lane
  from added a join input i on i.source = a.source and i.event_id = a.event_id
),
kept as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select distinct on (p.d) coalesce(p.payload_seq, p.seq), p.received_at, p.source, d.headers,
    substring($17::bytea from d.at for d.length)
  from placed p join delivery d on d.d = p.d
  order by p.d
),
queued as (
  insert into hookonce.work (seq, source, next_at, lane)
  select seq, source, hookonce.clock(), lane from placed where parked is null order by seq
),
counted as (
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), $20::int, count(*), count(parked), 0, min(seq), max(seq)
  from placed group by 1, 2 order by 1, 2
  on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    ignored = h.ignored + excluded.ignored, first_seq = least(h.first_seq, excluded.first_seq),
    last_seq = greatest(h.last_seq, excluded.last_seq)
)
select n::int, seq, case when ours then parked else state end as state, final, ours, content_hash, hookonce.clock() as at from known
union all
select n::int, seq, parked, false, true, content_hash, hookonce.clock() from placed`,
}

export const reserve: Statement = {
  name: 'reserve',
  sql: `select nextval('hookonce.event_seq') as seq from generate_series(1, $1::int)`,
}

/** $1 sources, $2 event ids: those that were neither found nor inserted, after whoever was first has committed. */
export const lookup: Statement = {
  name: 'lookup',
  sql: `
select i.n::int, e.seq, e.content_hash, w.seq is null as final, ${stateOf} as state, false as ours,
  hookonce.clock() as at
from unnest($1::text[], $2::text[]) with ordinality as i (source, event_id, n)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id
left join hookonce.work w on w.seq = e.seq`,
}

/** A row that `insert` or `lookup` answers. */
export interface Found {
  n: number
  seq: number
  /** The state of a known event; for a row of this batch: 'ignored' when it is parked, else null. */
  state: State | null
  final: boolean
  ours: boolean
  content_hash: Uint8Array | null
  at: number
}
