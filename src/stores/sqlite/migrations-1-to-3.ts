/** The text of the oldest migrations. A released migration keeps its exact text. */

export const log = `
create table hookonce_migrations (
  number integer primary key,
  name text not null,
  applied_at integer not null
) strict;

-- autoincrement: a seq is never given twice, not even after its event has been removed.
create table hookonce_events (
  seq integer primary key autoincrement,
  source text not null,
  event_id text not null,
  event_type text not null,
  related_reference text,
  content_hash blob,
  received_at integer not null,
  part integer not null,
  payload_seq integer,
  processing_state text not null,
  reason text,
  processed_at integer,
  attempts integer not null default 0,
  run integer not null default 1,
  parked text,
  unique (source, event_id)
) strict;
create index hookonce_events_type on hookonce_events (source, event_type, seq);
create index hookonce_events_reference on hookonce_events (related_reference, seq)
  where related_reference is not null;
create index hookonce_events_parked on hookonce_events (parked, source, seq) where parked is not null;
-- Only for deliveries with several events: which of them share one payload.
create index hookonce_events_payload on hookonce_events (payload_seq) where payload_seq is not null;

create table hookonce_payloads (
  seq integer primary key,
  received_at integer not null,
  headers text not null,
  body blob not null
) strict;

create table hookonce_work (
  seq integer primary key,
  source text not null,
  next_at integer not null,
  attempt integer not null,
  base_attempt integer not null,
  token text,
  worker text,
  claimed_at integer
) strict;
create index hookonce_work_due on hookonce_work (source, next_at, seq);

create table hookonce_attempts (
  seq integer not null,
  attempt integer not null,
  run integer not null,
  worker text not null,
  started_at integer not null,
  finished_at integer not null,
  outcome text not null,
  detail text,
  primary key (seq, attempt)
) strict, without rowid;

create table hookonce_effects (
  seq integer not null,
  name text not null,
  state text not null,
  result text,
  started_at integer not null,
  finished_at integer,
  primary key (seq, name)
) strict;

create table hookonce_duplicates (
  seq integer primary key,
  count integer not null,
  first_at integer not null,
  last_at integer not null,
  conflicts integer not null,
  conflict_hash blob,
  conflict_at integer
) strict;
create index hookonce_duplicates_conflict on hookonce_duplicates (seq) where conflicts > 0;

create table hookonce_guards (
  source text not null,
  content_hash blob not null,
  event_id text not null,
  primary key (source, content_hash)
) strict, without rowid;
create index hookonce_guards_event on hookonce_guards (source, event_id);

create table hookonce_hours (
  source text not null,
  hour integer not null,
  slot integer not null,
  recorded integer not null,
  ignored integer not null,
  dead integer not null,
  first_seq integer not null,
  last_seq integer not null,
  primary key (source, hour, slot)
) strict, without rowid;

create table hookonce_audit (
  id integer primary key,
  at integer not null,
  actor text not null,
  verb text not null,
  source text not null,
  event_id text not null,
  reason text not null
) strict;

create view hookonce_event_log as
select e.event_id, e.event_type, e.received_at, e.processed_at,
  case
    when w.seq is null then e.processing_state
    when w.token is not null and w.next_at > (julianday('now') - 2440587.5) * 86400000 then 'processing'
    when w.attempt - w.base_attempt - (w.token is not null) <= 0 then 'pending'
    else 'failed'
  end as processing_state,
  e.related_reference, e.source
from hookonce_events e left join hookonce_work w on w.seq = e.seq;
`

export const order = `
-- In both: in work it decides who may be claimed; the ledger remembers it for an event that is given a new start.
alter table hookonce_events add column lane text;
alter table hookonce_work add column lane text;
create index hookonce_work_lane on hookonce_work (source, lane, seq) where lane is not null;
-- Few rows: those of lanes that are leased.
create index hookonce_work_held on hookonce_work (source, lane) where lane is not null and token is not null;

create table hookonce_watermarks (
  source text not null,
  key text not null,
  value real not null,
  primary key (source, key)
) strict, without rowid;

create table hookonce_keys (
  key text primary key,
  token text not null,
  held_until integer not null,
  result text,
  finished_at integer,
  expires_at integer
) strict;
create index hookonce_keys_expiring on hookonce_keys (expires_at) where expires_at is not null;
`

export const reading = `
-- source and event_id become nullable: not everything that is audited is about one event.
create table hookonce_audit_next (
  id integer primary key autoincrement,
  at integer not null,
  actor text not null,
  verb text not null,
  source text,
  event_id text,
  reason text not null
) strict;
insert into hookonce_audit_next (id, at, actor, verb, source, event_id, reason)
  select id, at, actor, verb, source, event_id, reason from hookonce_audit;
drop table hookonce_audit;
alter table hookonce_audit_next rename to hookonce_audit;
create index hookonce_audit_event on hookonce_audit (event_id, id) where event_id is not null;

-- The highest seq that retention has removed: who follows the log from before it has missed something.
create table hookonce_pruned (
  source text primary key,
  seq integer not null
) strict, without rowid;
`
