/** Migrations 1 to 3. Published text: it is never changed. `hookonce.` stands for the configured schema. */

/** Tables, payload partitions and the view `event_log`. */
export const log = `
create schema if not exists hookonce;

create table hookonce.migrations (
  number int primary key,
  name text not null,
  applied_at timestamptz not null default now()
);

-- The store's clock: every lease is judged by it and by nothing else. Advances with each statement, also inside a
-- transaction; stable, so that an index on an instant can be used.
create function hookonce.clock() returns timestamptz language sql stable as $$ select statement_timestamp() $$;

-- An event is inserted once and, when all goes well, never updated: no work row and not parked means succeeded.
-- Byte order ("C") for every key: exact comparison, and an index no operating system upgrade can put out of order.
create sequence hookonce.event_seq as bigint;
create table hookonce.events (
  seq bigint primary key default nextval('hookonce.event_seq'),
  payload_seq bigint,
  batch bigint not null,
  received_at timestamptz not null,
  processed_at timestamptz,
  part int not null default 0,
  run int not null default 1,
  source text collate "C" not null,
  event_id text collate "C" not null,
  event_type text collate "C" not null,
  related_reference text collate "C",
  content_hash bytea,
  guard_hash bytea,
  parked text collate "C" check (parked in ('ignored', 'dead')),
  reason text,
  constraint events_once unique (source, event_id)
);
alter sequence hookonce.event_seq owned by hookonce.events.seq;
-- The type first: were the source first, a look-up by (source, event_id) could be planned over this index while the
-- table is small, and stay planned so when it has grown.
create index events_by_type on hookonce.events (event_type, source, seq);
create index events_by_reference on hookonce.events (related_reference, seq) where related_reference is not null;
create index events_parked on hookonce.events (parked, source, seq) where parked is not null;
create index events_sharing_payload on hookonce.events (payload_seq) where payload_seq is not null;

create table hookonce.payloads (
  seq bigint not null,
  received_at timestamptz not null,
  source text collate "C" not null,
  headers text not null,
  body bytea not null,
  primary key (seq, received_at)
) partition by range (received_at);

create table hookonce.work (
  seq bigint primary key,
  next_at timestamptz not null,
  claimed_at timestamptz,
  token uuid,
  attempt int not null default 0,
  base_attempt int not null default 0,
  run int not null default 1,
  source text collate "C" not null,
  worker text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
create index work_due on hookonce.work (source, next_at, seq);

create table hookonce.attempts (
  seq bigint not null,
  attempt int not null,
  run int not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  worker text not null,
  outcome text collate "C" not null check (outcome in ('succeeded', 'ignored', 'failed', 'lost')),
  detail text,
  primary key (seq, attempt)
);

create table hookonce.effects (
  seq bigint not null,
  name text collate "C" not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  result text,
  primary key (seq, name)
);

create table hookonce.duplicates (
  seq bigint primary key,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  conflicts bigint not null,
  conflict_at timestamptz,
  conflict_hash bytea
) with (fillfactor = 70);
create index duplicates_in_conflict on hookonce.duplicates (seq) where conflicts > 0;

create table hookonce.guards (
  source text collate "C" not null,
  guard_hash bytea not null,
  event_id text collate "C" not null,
  primary key (source, guard_hash)
);

create table hookonce.hours (
  source text collate "C" not null,
  hour timestamptz not null,
  slot int not null,
  recorded bigint not null,
  ignored bigint not null,
  dead bigint not null,
  first_seq bigint,
  last_seq bigint,
  primary key (source, hour, slot)
) with (fillfactor = 50);

create table hookonce.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  verb text not null,
  source text,
  event_id text,
  reason text not null
);

-- Creates the payload partitions of the month of an instant and of the months after it. Made as plain tables and
-- attached, because that does not block readers and writers of the others.
create function hookonce.ensure_partitions(from_at timestamptz, months int) returns int language plpgsql as $$
declare
  first date := date_trunc('month', from_at at time zone 'utc');
  low date;
  partition text;
  created int := 0;
begin
  for i in 0 .. months loop
    low := first + make_interval(months => i);
    partition := 'payloads_' || to_char(low, '"y"YYYY"m"MM');
    if to_regclass(format('hookonce.%I', partition)) is null then
      perform pg_advisory_xact_lock(hashtextextended('hookonce.partitions', 0));
      if to_regclass(format('hookonce.%I', partition)) is null then
        execute format('create table hookonce.%I (like hookonce.payloads including defaults including constraints)', partition);
        execute format('alter table hookonce.payloads attach partition hookonce.%I for values from (%L) to (%L)', partition,
          low::timestamp at time zone 'utc', (low + interval '1 month')::timestamp at time zone 'utc');
        created := created + 1;
      end if;
    end if;
  end loop;
  return created;
end $$;
select hookonce.ensure_partitions(now(), 3);

-- The classic shape, in one place.
create view hookonce.event_log as
select
  e.source, e.event_id, e.event_type, e.received_at,
  case when w.seq is null then coalesce(e.processed_at, a.finished_at) end as processed_at,
  case
    when w.seq is null then case e.parked when 'ignored' then 'ignored' when 'dead' then 'failed' else 'succeeded' end
    when w.token is not null and w.next_at > hookonce.clock() then 'processing'
    when w.attempt - w.base_attempt > case when w.token is null then 0 else 1 end then 'failed'
    else 'pending'
  end as processing_state,
  e.related_reference
from hookonce.events e
left join hookonce.work w on w.seq = e.seq
left join lateral (
  select a.finished_at from hookonce.attempts a where a.seq = e.seq order by a.attempt desc limit 1
) a on true;
`

/** Lanes, watermarks, idempotency keys, and the first text of `settle_succeeded` (replaced by migration 8). */
export const order = `
-- In both: the one that decides, and the one it comes back from when an operator orders a new start.
alter table hookonce.events add column lane text collate "C";
alter table hookonce.work add column lane text collate "C";
create index work_lanes on hookonce.work (source, lane, seq) where lane is not null;
create index work_held on hookonce.work (source, lane) where lane is not null and token is not null;

-- The common end of an attempt with a transaction of its own, so that it can share a round trip with COMMIT. Raises
-- where the lease is dead: the transaction is then aborted, and nothing of it can be committed.
create function hookonce.settle_succeeded(event_seq bigint, lease uuid, duration_ms float8) returns void language plpgsql as $$
declare
  held record;
begin
  delete from hookonce.work w where w.seq = event_seq and w.token = lease
    and w.next_at - hookonce.clock() > interval '0'
  returning w.source, w.lane, w.attempt, w.run, w.worker into held;
  if not found then
    raise exception 'the lease is dead' using errcode = 'HK001';
  end if;
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
  values (event_seq, held.attempt, held.run, held.worker, hookonce.clock() - make_interval(secs => duration_ms / 1000),
    hookonce.clock(), 'succeeded');
  if held.lane is not null then
    update hookonce.work w set next_at = hookonce.clock()
    where w.token is null and w.claimed_at is null and w.next_at > hookonce.clock() and w.seq = (
      select h.seq from hookonce.work h where h.source = held.source and h.lane = held.lane order by h.seq limit 1);
  end if;
end $$;

create table hookonce.watermarks (
  source text collate "C" not null,
  key text collate "C" not null,
  value float8 not null,
  primary key (source, key)
);

create table hookonce.keys (
  key text collate "C" primary key,
  token uuid not null,
  held_until timestamptz not null,
  finished_at timestamptz,
  expires_at timestamptz,
  result text
);
create index keys_expiring on hookonce.keys (expires_at) where expires_at is not null;
`

/** The audit and the horizon of `tail` (docs/decisions/0002-tail.md). */
export const reading = `
-- source and event_id are null where something was not about one event.
alter table hookonce.audit alter column source type text collate "C", alter column event_id type text collate "C";
create index audit_by_event on hookonce.audit (event_id, id) where event_id is not null;

-- The highest seq that retention has removed: who follows the log from before it has missed something.
create table hookonce.pruned (
  source text collate "C" primary key,
  seq bigint not null
);

-- Up to here the log is complete: what is not there now will never appear. Each record statement, before it takes a
-- number, holds a lock that says which number was the last then (docs/decisions/0002-tail.md). The order of the two
-- looks matters: who is not seen in the second takes numbers above the first.
create function hookonce.horizon() returns bigint language plpgsql volatile as $$
declare
  last bigint;
  lowest bigint;
begin
  select case when is_called then last_value else 0 end into last from hookonce.event_seq;
  select min(last - behind) into lowest from (
    select (last - objid::bigint) & 4294967295 as behind from pg_locks
    where locktype = 'advisory' and objsubid = 2 and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())
      and classid = 'hookonce.event_seq'::regclass::oid
  ) announced where behind < 2147483648;
  return coalesce(lowest, last);
end $$;
`
