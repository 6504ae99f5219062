/** `insertPlain` or `insert` for a whole batch, `lookup` for events that are known, and one that is rarely needed. */
import type { ignoredReasons, State } from '../../model.js'
import { statement } from './connection/statement.js'
import { countHours } from './hours.js'
import { insertReferences } from './references.js'
import { alive, lockBefore, parkedFor, stateOf } from './work.js'

const replayed: (typeof ignoredReasons)[number] = 'replayed_content'

const now = "date_part('epoch', hookonce.clock()) * 1000"

/** An earlier try of the same batch may have written the row. */
const knownEvent = (batch: string): string => `e.seq, e.content_hash, e.same_as, w.seq is null as final,
    e.batch = ${batch}::bigint as is_new, ${stateOf} as state`
/** Null when an event has no token, or its lease with this token is over. */
const leasedAt = (token: string): string =>
  `case when w.token = ${token} and ${alive} then date_part('epoch', w.claimed_at) * 1000 end as leased_at`

/**
 * A lock names the last seq before this statement: `tail` stops there until this transaction has committed. nextval gets
 * the sequence from here, so no plan can call it before the lock is taken.
 */
export const announced = `announced as materialized (
  select 'hookonce.event_seq'::regclass as sequence, pg_advisory_xact_lock_shared(
    'hookonce.event_seq'::regclass::oid::int, (case when is_called then last_value else 0 end << 32 >> 32)::int)
  from hookonce.event_seq
)`

const leaseColumns = 'token, attempt, worker, claimed_at'
const leaseTime = (ms: string): string => `make_interval(secs => ${ms}::float8 / 1000)`
/** Of a row in `work`. Without a token it is not leased. */
const leaseValues = (token: string, worker: string): string =>
  `${token}, (${token} is not null)::int, case when ${token} is not null then ${worker} end,
    case when ${token} is not null then hookonce.clock() end`

/** Only in statements for events that have other references: the rest costs no more for them. */
const referred = `referred as (${insertReferences('select seq, rows from placed where rows is not null')}
),
`

/*
 * $1-$4 source, event id, type, reference   $5 part   $6 delivery (from 1)   $7 reserved payload seq or null
 * $8 content hashes, joined   $9 has content hash   $10 guard hashes, joined   $11 has guard hash   $12 lanes
 * per delivery: $13 received at (ms or null)   $14 headers   $15 store known content   $16 handle known content
 * $17 body offset (from 1)   $18 body length   $19 bodies, joined
 * $20 batch   $21 tokens or null   $22 worker   $23 lease in ms   $24 labels of references   $25 other references (JSON) or null
 * $26 origins (null for a delivery)   $27 slot
 *
 * - Bytes are one binary value that is cut here: the driver sends an array of bytea as hexadecimal text.
 * - The look-up is lateral with a limit, which can only run through the index, row by row: a plan made while the table
 *   was small must not scan the table after it has grown.
 * - An existing guard is only read: a sender that repeats itself must not make every batch lock one row. When two batches
 *   insert a missing guard at once, both get the event id of the first.
 * - The planner expects a few events in a batch, and would compare each inserted row with each event (a nested loop).
 *   `(... in (select ...)) is true` can only be a look-up in a hash table; a full join with a condition that accepts null
 *   can only be a hash or merge join.
 * - An event that lost a race (another transaction, which the snapshot lacks, has inserted its id) must not leave its guard:
 *   the statement fails as a whole, and is sent again with a snapshot that has the other row.
 * - Rows are inserted in key order: two batches with the same keys then wait for each other instead of deadlocking.
 */
const insertAny = (refers: boolean) => statement(refers ? 'record_referring' : 'record')`
with input as materialized (
  select n, source, event_id, event_type, reference, label, rows, lane, part, d, payload_seq, token,
    case when hashed then substring($8::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    case when guarded then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as guard_hash
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::bigint[], $9::bool[], $11::bool[],
    $12::text[], $21::uuid[], $24::text[], $25::text[])
    with ordinality as i (source, event_id, event_type, reference, part, d, payload_seq, hashed, guarded, lane, token, label, rows,
      n)
),
delivery as materialized (
  select d, coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at, headers, stores, handles, origin, at, length
  from unnest($13::float8[], $14::text[], $15::bool[], $16::bool[], $17::int[], $18::int[], $26::text[])
    with ordinality as i (received_ms, headers, stores, handles, at, length, origin, d)
),
known as materialized (
  select i.n, ${knownEvent('$20')}, ${leasedAt('i.token')}
  from input i
  cross join lateral (
    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
  ) e
  left join hookonce.work w on w.seq = e.seq
),
fresh as materialized (
  select i.*, d.received_at, d.stores, d.handles, d.origin
  from input i join delivery d on d.d = i.d
  where i.n not in (select n from known)
),
held as materialized (
  select f.n, g.event_id from fresh f
  cross join lateral (
    select event_id from hookonce.guards g where g.source = f.source and g.guard_hash = f.guard_hash limit 1
  ) g
),
guarding as (
  insert into hookonce.guards as g (source, guard_hash, event_id)
  select distinct on (source, guard_hash) source, guard_hash, event_id from fresh
  where guard_hash is not null and n not in (select n from held)
  order by source, guard_hash, n
  on conflict (source, guard_hash) do update set event_id = g.event_id
  returning g.source, g.guard_hash, g.event_id
),
compared as materialized (
  select f.*, nullif(coalesce(h.event_id, g.event_id), f.event_id) as same_as
  from fresh f
  left join held h on h.n = f.n
  left join guarding g on g.source = f.source and g.guard_hash = f.guard_hash
),
${announced},
numbered as materialized (
  -- Numbered in the order of arrival: lanes and lists go by seq.
  select c.*, same_as is not null and not handles as withheld, nextval((select sequence from announced)) as seq
  from (select * from compared where same_as is null or stores order by n) c
),
added as (
  insert into hookonce.events (seq, payload_seq, batch, received_at, part, source, event_id, event_type, related_reference,
    reference_label, content_hash, guard_hash, lane, same_as, origin, parked, withheld, reason, processed_at)
  select seq, payload_seq, $20::bigint, received_at, part, source, event_id, event_type, reference, label, content_hash,
    guard_hash, lane, same_as, origin, case when withheld then 'ignored' end, nullif(withheld, false), case when withheld then '${replayed}' end,
    case when withheld then hookonce.clock() end
  from numbered order by source, event_id, n
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  select n, d, seq, payload_seq, source, received_at, withheld, content_hash, lane, token, same_as, rows
  from numbered where (seq in (select seq from added)) is true
),
kept as (
  -- The body is cut after the events of a delivery are one row. A sort of them with it took 250 MB for 1,000 events.
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select coalesce(p.payload_seq, p.seq), p.received_at, p.source, d.headers, substring($19::bytea from d.at for d.length)
  from (select distinct on (d) d, payload_seq, seq, received_at, source from placed order by d) p
  full join delivery d on d.d = p.d where coalesce(p.seq, 0) > 0
),
${refers ? referred : ''}entering as materialized (
  select p.*, p.nth > 1 or h.seq is not null as is_parked,
    case when p.lane is null then p.token when p.nth = 1 and h.seq is null and p.token is not null
      and hookonce.take_lane(p.source, p.lane, p.seq) then p.token end as lease
  from (
    select *, case when lane is not null then row_number() over (partition by source, lane order by seq) end as nth
    from placed where not withheld
  ) p left join lateral ${lockBefore('p')} h on p.nth = 1
),
queued as (
  insert into hookonce.work (seq, source, lane, next_at, ${leaseColumns})
  select seq, source, lane, hookonce.clock() + case when lease is not null then ${leaseTime('$23')}
    when is_parked then ${parkedFor} else interval '0' end, ${leaseValues('lease', '$22')}
  from entering order by seq
),
counted as (${countHours('placed', { recorded: 'count(*)', ignored: 'count(*) filter (where withheld)', slot: '$27::int' })}
)
select n::int, seq, state, final, is_new, content_hash, same_as, leased_at, ${now} as at from known
union all
select n::int, seq, 'ignored', true, true, content_hash, same_as, null, ${now} from placed where withheld
union all
select n::int, seq, 'pending', false, true, content_hash, same_as, case when lease is not null then ${now} end, ${now}
from entering
union all
select n::int, null, 'ignored', true, false, null, same_as, null, ${now} from compared where same_as is not null and not stores
union all
select n::int, hookonce.lost_race(), 'ignored', true, false, null, null, null, ${now} from numbered
where guard_hash is not null and same_as is null and seq not in (select seq from added)`
export const insert = insertAny(false)
export const insertReferring = insertAny(true)

export const LOST_RACE = 'HK002'

export const createLostRace = `
create or replace function hookonce.lost_race() returns bigint language plpgsql volatile as $$
begin
  raise exception 'another transaction has recorded the event' using errcode = '${LOST_RACE}';
end $$;
`

/*
 * $1-$4 source, event id, type, reference   $5 headers   $6 received at (ms or null)   $7 body offset (from 1)
 * $8 body length   $9 bodies, joined   $10 content hashes, joined   $11 has content hash   $12 batch
 * $13 tokens or null   $14 worker   $15 lease in ms   $16 labels of references   $17 other references (JSON) or null   $18 slot
 *
 * Costs half as much as `insert`, for events that were delivered alone and have no guard and no lane. It returns only
 * the events that it inserted: `lookup` finds those that are known or were inserted by an earlier try.
 */
const insertAlone = (refers: boolean) => statement(refers ? 'record_plain_referring' : 'record_plain')`
with ${announced},
numbered as materialized (
  select n, source, event_id, event_type, reference, label, rows, headers, start, length, token,
    coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at,
    case when hashed then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    nextval((select sequence from announced)) as seq
  from (
    select i.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::int[], $8::int[],
      $11::bool[], $13::uuid[], $16::text[], $17::text[]) with ordinality
      as i (source, event_id, event_type, reference, headers, received_ms, start, length, hashed, token, label, rows, n)
    order by n
  ) i
),
added as (
  insert into hookonce.events (seq, batch, received_at, source, event_id, event_type, related_reference, reference_label,
    content_hash)
  select seq, $12::bigint, received_at, source, event_id, event_type, reference, label, content_hash
  from numbered order by source, event_id
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  select n, seq, source, received_at, headers, start, length, token, rows
  from numbered where (seq in (select seq from added)) is true
),
kept as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select seq, received_at, source, headers, substring($9::bytea from start for length) from placed
),
queued as (
  insert into hookonce.work (seq, source, next_at, ${leaseColumns})
  select seq, source, hookonce.clock() + case when token is null then interval '0' else ${leaseTime('$15')} end,
    ${leaseValues('token', '$14')}
  from placed
),
${refers ? referred : ''}counted as (${countHours('placed', { recorded: 'count(*)', slot: '$18::int' })}
)
select n::int, seq, ${now} as at from placed`
export const insertPlain = insertAlone(false)
export const insertPlainReferring = insertAlone(true)

export interface Inserted {
  n: number
  seq: number
  at: number
}

export const reserve = statement(
  'reserve',
)`select nextval('hookonce.event_seq') as seq from generate_series(1, $1::int)`

/** $1 sources   $2 event ids   $3 batch   $4 tokens or null */
export const lookup = statement('lookup')`
select i.n::int, ${knownEvent('$3')}, ${leasedAt('i.token')}, ${now} as at
from unnest($1::text[], $2::text[], $4::uuid[]) with ordinality as i (source, event_id, token, n)
cross join lateral (
  select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
) e
left join hookonce.work w on w.seq = e.seq`

export interface FoundRow {
  n: number
  /** Null when the source rejects known signed content. */
  seq: number | null
  state: State
  final: boolean
  is_new: boolean
  content_hash: Uint8Array | null
  same_as: string | null
  leased_at: number | null
  at: number
}
