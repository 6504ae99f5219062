/** The statements of record: one for a whole batch, and three that are rarely needed. */
import type { State } from '../../model.js'
import type { Statement } from './statement.js'
import { lockBefore, parkedFor, stateOf } from './work.js'

/** Whether the event `of` contests the id of the row `e`: it has other signed content, and there are signs of tampering. */
function contested(of: string): string {
  return `(e.guard_hash is distinct from ${of}.guard_hash and (e.content_hash = ${of}.content_hash) is not true
      and (e.same_as is not null or e.reason = 'replayed_content'
        or exists (select 1 from hookonce.events f where f.source = e.source and f.same_as = e.event_id)) is true)`
}

/*
 * $1-$4 source, event id, type, reference   $5 part   $6 delivery (from 1)   $7 reserved payload seq or null
 * $8 content hashes, joined   $9 has content hash   $10 guard hashes, joined   $11 has guard hash
 * per delivery: $12 received at (ms or null)   $13 headers   $14 replay policy   $15 body offset (from 1)
 * $16 body length   $17 bodies, joined   $18 batch   $19 lanes (per event)   $20 id if contested (per event)   $21 tombstones, joined
 * $22 slot
 *
 * - Bytes are sent as one binary value and cut here: an array of bytea would be sent as hexadecimal text.
 * - The look-up is lateral with a limit, so that it can only run through the index, row by row: a plan made while the
 *   table was small must not scan the table after it has grown.
 * - Before the statement takes a seq, it takes a lock that names the last seq before it (`announced`). `tail` stops there
 *   until this transaction has committed. The name of the sequence comes from `announced`, so that no plan can call
 *   nextval before the lock is taken.
 * - An id is contested when other signed content arrives under it and there are signs that its first user was not the
 *   sender (docs/decisions/0003-contested-ids.md). The event is then looked up and stored under an id made of its content.
 * - An existing guard is only read: a sender that repeats itself must not make every batch lock the same row. A missing
 *   guard is inserted; when two batches insert it at once, both get the event id of the first.
 * - The planner does not know how many events a batch has. It expects a few, and would compare each inserted row with
 *   each event (a nested loop). `(... in (select ...)) is true` can only be a look-up in a hash table; a full join with a
 *   condition that accepts null can only be a hash or merge join.
 * - Rows are inserted in key order, so that two batches with the same keys wait for each other instead of deadlocking.
 */
export const insert: Statement = {
  name: 'record',
  sql: `
with input as materialized (
  select n, source, event_id, event_type, reference, lane, part, d, payload_seq, contested_id,
    case when hashed then substring($8::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    case when guarded then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as guard_hash,
    substring($21::bytea from (32 * (n - 1) + 1)::int for 32) as tombstone
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::bigint[], $9::bool[], $11::bool[],
    $19::text[], $20::text[])
    with ordinality as i (source, event_id, event_type, reference, part, d, payload_seq, hashed, guarded, lane,
      contested_id, n)
),
delivery as materialized (
  select d, coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at, headers, policy, at, length
  from unnest($12::float8[], $13::text[], $14::text[], $15::int[], $16::int[])
    with ordinality as i (received_ms, headers, policy, at, length, d)
),
met as materialized (
  select i.n, i.source, i.contested_id, e.seq, e.content_hash, e.batch = $18::bigint as ours, e.parked, e.same_as,
    w.seq is null as final, ${stateOf} as state, i.guard_hash is not null and ${contested('i')} as contested
  from input i
  cross join lateral (
    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
  ) e
  left join hookonce.work w on w.seq = e.seq
),
known as materialized (
  select n, seq, content_hash, ours, parked, same_as, final, state, null::text as stored_as from met where not contested
  union all
  select m.n, e.seq, e.content_hash, e.batch = $18::bigint, e.parked, e.same_as, w.seq is null, ${stateOf}, e.event_id
  from met m
  cross join lateral (
    select * from hookonce.events e where e.source = m.source and e.event_id = m.contested_id limit 1
  ) e
  left join hookonce.work w on w.seq = e.seq
  where m.contested
),
fresh as materialized (
  select i.n, i.source, case when m.contested then i.contested_id else i.event_id end as event_id,
    case when m.contested then i.event_id end as contests, i.event_type, i.reference, i.lane, i.part, i.d, i.payload_seq,
    i.content_hash, i.guard_hash, d.received_at, d.policy, i.tombstone, i.event_id as delivered_as, i.contested_id
  from input i join delivery d on d.d = i.d left join met m on m.n = i.n
  where i.n not in (select n from known)
),
held as materialized (
  select f.n, g.event_id, g.retired_at is not null and g.event_id in (f.delivered_as, f.contested_id) as retired
  from fresh f
  cross join lateral (
    select event_id, retired_at from hookonce.guards g
    where g.source = f.source and g.guard_hash = f.guard_hash limit 1
  ) g
),
buried as materialized (
  select n from held where retired
  union
  select f.n from fresh f cross join lateral (
    select 1 from hookonce.tombstones t where t.source = f.source and t.digest = f.tombstone limit 1
  ) t
),
guarding as (
  insert into hookonce.guards as g (source, guard_hash, event_id)
  select distinct on (source, guard_hash) source, guard_hash, event_id from fresh
  where guard_hash is not null and n not in (select n from held union all select n from buried)
  order by source, guard_hash, n
  on conflict (source, guard_hash) do update set event_id = g.event_id
  returning g.source, g.guard_hash, g.event_id
),
judged as materialized (
  select f.*, nullif(coalesce(h.event_id, g.event_id), f.event_id) as same_as
  from fresh f
  left join held h on h.n = f.n
  left join guarding g on g.source = f.source and g.guard_hash = f.guard_hash
  where f.n not in (select n from buried)
),
announced as materialized (
  select 'hookonce.event_seq'::regclass as sequence, pg_advisory_xact_lock_shared(
    'hookonce.event_seq'::regclass::oid::int, (case when is_called then last_value else 0 end << 32 >> 32)::int)
  from hookonce.event_seq
),
numbered as materialized (
  -- In the order of arrival, whatever the order of insertion: seq is what lanes and lists go by.
  select j.*, same_as is not null and policy = 'review' as withheld, nextval((select sequence from announced)) as seq
  from (select * from judged where same_as is null or policy <> 'reject' order by n) j
),
added as (
  insert into hookonce.events (seq, payload_seq, batch, received_at, part, source, event_id, event_type, related_reference,
    content_hash, guard_hash, lane, same_as, contests, parked, reason, processed_at)
  select seq, payload_seq, $18::bigint, received_at, part, source, event_id, event_type, reference, content_hash, guard_hash, lane,
    same_as, contests, case when withheld then 'ignored' end, case when withheld then 'replayed_content' end,
    case when withheld then hookonce.clock() end
  from numbered order by source, event_id, n
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  select n, d, seq, payload_seq, source, received_at, case when withheld then 'ignored' end as parked, content_hash, lane,
    same_as, case when contests is not null then event_id end as stored_as
  from numbered where (seq in (select seq from added)) is true
),
kept as (
  -- The body is cut after the events of a delivery are one row. A sort of them with it took 250 MB for 1,000 events.
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select coalesce(p.payload_seq, p.seq), p.received_at, p.source, d.headers, substring($17::bytea from d.at for d.length)
  from (select distinct on (d) d, payload_seq, seq, received_at, source from placed order by d) p
  full join delivery d on d.d = p.d where coalesce(p.seq, 0) > 0
),
queued as (
  insert into hookonce.work (seq, source, next_at, lane)
  select p.seq, p.source, hookonce.clock() + case when p.nth > 1 or h.seq is not null then ${parkedFor} else interval '0' end, p.lane
  from (
    select *, case when lane is not null then row_number() over (partition by source, lane order by seq) end as nth
    from placed where parked is null
  ) p left join lateral ${lockBefore('p')} h on p.nth = 1
  order by p.seq
),
counted as (
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), $22::int, count(*), count(parked), 0, min(seq), max(seq)
  from placed group by 1, 2 order by 1, 2
  on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    ignored = h.ignored + excluded.ignored, first_seq = least(h.first_seq, excluded.first_seq),
    last_seq = greatest(h.last_seq, excluded.last_seq)
)
select n::int, seq, case when ours then parked else state end as state, final, ours, content_hash, date_part('epoch', hookonce.clock()) * 1000 as at,
  same_as, stored_as, false as contested from known
union all
select n::int, seq, parked, false, true, content_hash, date_part('epoch', hookonce.clock()) * 1000, same_as, stored_as, false from placed
union all
select n::int, null, null, true, false, null, date_part('epoch', hookonce.clock()) * 1000, null, null, false from buried
union all
-- Rejected under an id that is contested: a look-up would find the row of the other content.
select n::int, null, null, true, false, null, date_part('epoch', hookonce.clock()) * 1000, same_as, null, false from judged
where contests is not null and same_as is not null and policy = 'reject'`,
}

/*
 * $1-$4 source, event id, type, reference   $5 headers   $6 received at (ms or null)   $7 body offset (from 1)
 * $8 body length   $9 bodies, joined   $10 content hashes, joined   $11 has content hash   $12 tombstones, joined
 * $13 batch   $14 slot
 *
 * `insert` for plain events, about half its cost: one event in a delivery, no guard, no lane. It returns the events that it
 * inserted and nothing else. An event that is known, was inserted by an earlier try of the same batch, or has a tombstone
 * gives no row: `lookup` then tells, and `insert` decides about the rest.
 */
export const insertPlain: Statement = {
  name: 'record_plain',
  sql: `
with announced as materialized (
  select 'hookonce.event_seq'::regclass as sequence, pg_advisory_xact_lock_shared(
    'hookonce.event_seq'::regclass::oid::int, (case when is_called then last_value else 0 end << 32 >> 32)::int)
  from hookonce.event_seq
),
numbered as materialized (
  select n, source, event_id, event_type, reference, headers, start, length,
    coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at,
    case when hashed then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    nextval((select sequence from announced)) as seq
  from (
    select i.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::int[], $8::int[],
      $11::bool[])
      with ordinality as i (source, event_id, event_type, reference, headers, received_ms, start, length, hashed, n)
    left join lateral (
      select true as found from hookonce.tombstones t
      where t.source = i.source and t.digest = substring($12::bytea from (32 * (i.n - 1) + 1)::int for 32) limit 1
    ) t on true
    where t.found is null
    order by n
  ) i
),
added as (
  insert into hookonce.events (seq, batch, received_at, source, event_id, event_type, related_reference, content_hash)
  select seq, $13::bigint, received_at, source, event_id, event_type, reference, content_hash
  from numbered order by source, event_id
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  select n, seq, source, received_at, headers, start, length
  from numbered where (seq in (select seq from added)) is true
),
kept as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select seq, received_at, source, headers, substring($9::bytea from start for length) from placed
),
queued as (
  insert into hookonce.work (seq, source, next_at) select seq, source, hookonce.clock() from placed
),
counted as (
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), $14::int, count(*), 0, 0, min(seq), max(seq)
  from placed group by 1, 2 order by 1, 2
  on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    first_seq = least(h.first_seq, excluded.first_seq), last_seq = greatest(h.last_seq, excluded.last_seq)
)
select n::int, seq, date_part('epoch', hookonce.clock()) * 1000 as at from placed`,
}

/** A row that `insertPlain` returns. */
export interface Inserted {
  n: number
  seq: number
  at: number
}

export const reserve: Statement = {
  name: 'reserve',
  sql: `select nextval('hookonce.event_seq') as seq from generate_series(1, $1::int)`,
}

/**
 * $1 sources, $2 event ids, $3 content hashes, $4 guard hashes (both hexadecimal or null), $5 batch: looks up events that
 * were neither found nor inserted, after the transaction that inserted them first has committed.
 */
export const lookup: Statement = {
  name: 'lookup',
  sql: `
select i.n::int, e.seq, e.content_hash, w.seq is null as final,
  case when e.batch = $5::bigint then e.parked else ${stateOf} end as state, e.batch = $5::bigint as ours,
  date_part('epoch', hookonce.clock()) * 1000 as at, e.same_as, null::text as stored_as,
  i.guard_hash is not null and ${contested('i')} as contested
from (
  select n, source, event_id, decode(content, 'hex') as content_hash, decode(guard, 'hex') as guard_hash
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as i (source, event_id, content, guard, n)
) i
cross join lateral (
  select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
) e
left join hookonce.work w on w.seq = e.seq`,
}

/**
 * $1 sources, $2 event ids, $3 guard hashes (hexadecimal): removes the guards of events that were not inserted because
 * another batch inserted the same id at the same time.
 */
export const disown: Statement = {
  name: 'disown',
  sql: `
delete from hookonce.guards g
using unnest($1::text[], $2::text[], $3::text[]) as i (source, event_id, guard)
where g.source = i.source and g.guard_hash = decode(i.guard, 'hex') and g.event_id = i.event_id
  and not exists (select 1 from hookonce.events e
    where e.source = g.source and e.event_id = g.event_id and e.guard_hash = g.guard_hash)`,
}

/** A row that `insert` or `lookup` returns. */
export interface Found {
  n: number
  /** Null when only a tombstone is left, or (with `same_as`) when the event repeats known content and the policy rejects it. */
  seq: number | null
  /** The state of a known event; for an event that this batch inserted: 'ignored' when it is parked, else null. */
  state: State | null
  final: boolean
  ours: boolean
  content_hash: Uint8Array | null
  at: number
  same_as: string | null
  /** The id under which the event is stored, when its own id was contested. */
  stored_as: string | null
  /** Whether the event must be stored beside other signed content of this id. Only `lookup` sets it. */
  contested: boolean
}
