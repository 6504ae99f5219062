/**
 * The tables of the log (docs/decisions/0001-tables.md). They share the file with the user's own tables, hence the prefix.
 * Instants are milliseconds since 1970.
 *
 * Each store has the same migrations by number and name. A released migration is never changed.
 */
import type { Migration } from '../../store.js'

const log = `
-- compatible_from: the oldest schema number that a process must know to work with this migration. version: of the
-- hookonce that applied it.
create table hookonce_migrations (
  number integer primary key,
  name text not null,
  applied_at integer not null,
  compatible_from integer not null,
  version text
) strict;

-- The newest time that was written: the time of the log never runs backwards.
create table hookonce_clock (
  id integer primary key check (id = 1),
  at integer not null
) strict;
insert into hookonce_clock (id, at) values (1, 0);

-- autoincrement: a seq is never given twice, not even after its event has been removed. payload_seq: null for its own
-- seq. same_as: the event whose signed content it repeats. withheld: 1 while it waits for a review because of that and was
-- never handled. origin: null for a delivery. erased_at: set for every event of a delivery whose bytes were
-- erased; they are never restored.
create table hookonce_events (
  seq integer primary key autoincrement,
  source text not null,
  event_id text not null,
  event_type text not null,
  related_reference text,
  reference_label text,
  lane text,
  content_hash blob,
  same_as text,
  origin text,
  received_at integer not null,
  part integer not null,
  payload_seq integer,
  processing_state text not null,
  reason text,
  processed_at integer,
  erased_at integer,
  attempts integer not null default 0,
  run integer not null default 1,
  parked text,
  withheld integer,
  unique (source, event_id)
) strict;
create index hookonce_events_type on hookonce_events (source, event_type, seq);
create index hookonce_events_reference on hookonce_events (related_reference, seq)
  where related_reference is not null;
create index hookonce_events_parked on hookonce_events (parked, source, seq) where parked is not null;
-- Which events share one payload: those of one delivery, and their copies for consumers.
create index hookonce_events_payload on hookonce_events (payload_seq) where payload_seq is not null;
create index hookonce_events_flagged on hookonce_events (seq) where same_as is not null;

-- Further references of an event, which has its own one in related_reference.
create table hookonce_event_references (
  seq integer not null,
  label text not null,
  value text not null,
  primary key (seq, label, value)
) strict, without rowid;
create index hookonce_event_references_value on hookonce_event_references (value, seq);

-- reply_*: the answer that the handler of the event with this seq has returned (inline mode).
create table hookonce_payloads (
  seq integer primary key,
  received_at integer not null,
  headers text not null,
  body blob not null,
  reply_status integer,
  reply_headers text,
  reply_body blob
) strict;

create table hookonce_work (
  seq integer primary key,
  source text not null,
  lane text,
  next_at integer not null,
  attempt integer not null,
  base_attempt integer not null,
  token text,
  worker text,
  claimed_at integer
) strict;
create index hookonce_work_due on hookonce_work (source, next_at, seq);
create index hookonce_work_lane on hookonce_work (source, lane, seq) where lane is not null;
-- Few rows each, whatever the backlog: leased events of lanes, leased events, and events that wait for another attempt.
create index hookonce_work_held on hookonce_work (source, lane) where lane is not null and token is not null;
create index hookonce_work_leased on hookonce_work (source, seq) where token is not null;
create index hookonce_work_retrying on hookonce_work (source, seq) where token is null and attempt > base_attempt;

create table hookonce_attempts (
  seq integer not null,
  attempt integer not null,
  run integer not null,
  worker text not null,
  started_at integer not null,
  finished_at integer not null,
  outcome text not null,
  detail text,
  place text,
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
  conflicts integer not null
) strict;

-- Other content of an event, by its hash. The highest number is the latest. The bytes are removed by their age, like a
-- payload; the row stays with the event, to recognise content that a person has decided about.
create table hookonce_conflicts (
  seq integer not null,
  hash blob not null,
  number integer not null,
  source text not null,
  first_at integer not null,
  at integer not null,
  decided_at integer,
  part integer not null,
  headers text,
  body blob,
  primary key (seq, hash)
) strict;
create index hookonce_conflicts_open on hookonce_conflicts (source, seq) where decided_at is null;
create index hookonce_conflicts_age on hookonce_conflicts (source, at) where body is not null;

create table hookonce_guards (
  source text not null,
  content_hash blob not null,
  event_id text not null,
  primary key (source, content_hash)
) strict, without rowid;
create index hookonce_guards_event on hookonce_guards (source, event_id);

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

-- The sums of hours by source, and how many events wait. Triggers keep them exact for every writer.
create table hookonce_totals (
  source text primary key,
  recorded integer not null default 0,
  ignored integer not null default 0,
  dead integer not null default 0,
  work integer not null default 0
) strict, without rowid;

-- The seqs of each hour over all sources.
create table hookonce_spans (
  hour integer primary key,
  first_seq integer not null,
  last_seq integer not null
) strict;

create trigger hookonce_hours_added after insert on hookonce_hours begin
  insert into hookonce_totals (source, recorded, ignored, dead) values (new.source, new.recorded, new.ignored, new.dead)
    on conflict (source) do update set recorded = recorded + excluded.recorded, ignored = ignored + excluded.ignored,
      dead = dead + excluded.dead;
  insert into hookonce_spans (hour, first_seq, last_seq) values (new.hour, new.first_seq, new.last_seq)
    on conflict (hour) do update set first_seq = min(first_seq, excluded.first_seq), last_seq = max(last_seq, excluded.last_seq);
end;
create trigger hookonce_hours_changed after update on hookonce_hours begin
  update hookonce_totals set recorded = recorded + new.recorded - old.recorded,
    ignored = ignored + new.ignored - old.ignored, dead = dead + new.dead - old.dead where source = new.source;
  update hookonce_spans set first_seq = min(first_seq, new.first_seq), last_seq = max(last_seq, new.last_seq)
    where hour = new.hour;
end;
create trigger hookonce_hours_removed after delete on hookonce_hours begin
  update hookonce_totals set recorded = recorded - old.recorded, ignored = ignored - old.ignored,
    dead = dead - old.dead where source = old.source;
end;
create trigger hookonce_work_added after insert on hookonce_work begin
  insert into hookonce_totals (source, work) values (new.source, 1) on conflict (source) do update set work = work + 1;
end;
create trigger hookonce_work_removed after delete on hookonce_work begin
  update hookonce_totals set work = work - 1 where source = old.source;
end;

-- level: the length of a bucket in milliseconds. A range of time is a range of the key.
create table hookonce_history (
  level integer not null,
  at integer not null,
  source text not null,
  name text not null,
  value integer not null,
  primary key (level, at, source, name)
) strict, without rowid;

-- facts: JSON.
create table hookonce_processes (
  id text primary key,
  facts text not null,
  started_at integer not null,
  seen_at integer not null
) strict, without rowid;

-- source and event_id are null when the action was not about one event.
create table hookonce_audit (
  id integer primary key autoincrement,
  at integer not null,
  actor text not null,
  verb text not null,
  source text,
  event_id text,
  note text not null
) strict;
create index hookonce_audit_event on hookonce_audit (event_id, id) where event_id is not null;
create index hookonce_audit_age on hookonce_audit (source, at);

-- The deliveries in an archived object that was read back and verified; seqs is a JSON list. sha256: only the same bytes
-- are restored.
create table hookonce_archived (
  source text not null,
  day text not null,
  object integer not null,
  first_seq integer not null,
  last_seq integer not null,
  seqs text not null,
  sha256 text not null,
  primary key (source, day, object)
) strict;
create index hookonce_archived_seqs on hookonce_archived (source, last_seq);

-- The highest seq that retention has removed: a reader that follows the log from below it has missed events.
create table hookonce_pruned (
  source text primary key,
  seq integer not null
) strict, without rowid;

-- source: that of the copies, such as stripe/mail; that of a source without a slash stands for its main consumer. position:
-- every event of the followed source up to this seq was copied or was not asked for.
create table hookonce_consumers (
  source text primary key,
  position integer not null,
  started_at integer not null
) strict, without rowid;

-- What operators have paused. event_type: a type or a glob; empty = all events of the source.
create table hookonce_pauses (
  source text not null,
  event_type text not null,
  actor text not null,
  note text not null,
  at integer not null,
  primary key (source, event_type)
) strict, without rowid;

-- Runs of reconcile, the last of each source. report: JSON.
create table hookonce_reconciles (
  id text primary key,
  source text not null,
  started_at integer not null,
  updated_at integer not null,
  report text not null
) strict, without rowid;
create index hookonce_reconciles_source on hookonce_reconciles (source, started_at);
-- Limits of handlers across processes, and the slots that processes hold of them. A limit that is not in use has no row.
create table hookonce_limits (
  source text not null,
  pattern text not null,
  key text not null,
  next_start_at real not null,
  paused_until integer not null,
  primary key (source, pattern, key)
) strict, without rowid;
create index hookonce_limits_unused on hookonce_limits (next_start_at);
create table hookonce_grants (
  source text not null,
  pattern text not null,
  key text not null,
  holder text not null,
  worker text not null,
  slots integer not null,
  until integer not null,
  primary key (source, pattern, key, holder)
) strict, without rowid;

-- Written to by ping after a record has failed.
create table hookonce_probe (id integer primary key, filler blob not null) strict;

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

export const migrations: readonly Migration[] = [{ number: 1, name: 'log', sql: log }]
