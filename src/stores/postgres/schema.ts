/**
 * The tables of the log (docs/decisions/0001-tables.md). `hookonce.` stands for the configured schema.
 *
 * Both stores have the same migrations by number and name. A released migration is never changed. SQL functions are in
 * the file of the verb that calls them: to change one, edit it there and list it again in the next migration.
 */
import type { Migration } from '../../store.js'
import { createTakeGrant } from './grants.js'
import { createTotalsTriggers } from './hours.js'
import { createPartitionFunctions } from './partitions.js'
import { createHorizon } from './read.js'
import { createLostRace } from './record-sql.js'
import { createSettleSucceeded } from './settle.js'
import { createPromoteLanes, createTakeLane, stateOf } from './work.js'

// Keys have byte order ("C"): it compares exactly, and an upgrade of the operating system cannot break an index on it.
const log = `
create schema if not exists hookonce;

-- compatible_from: the oldest schema number that a process must know to work with this migration. version: of the
-- hookonce that applied it.
create table hookonce.migrations (
  number int primary key,
  name text not null,
  applied_at timestamptz not null default now(),
  compatible_from int not null,
  version text
);

-- The only clock that leases are checked by. It advances with each statement, even inside a transaction. It is stable, so
-- a comparison with it can use an index.
create function hookonce.clock() returns timestamptz language sql stable as $$ select statement_timestamp() $$;

create sequence hookonce.event_seq as bigint;

-- An event is inserted once. When it succeeds at once it is never updated: no row in work and not parked means succeeded.
-- batch: a random number for each record statement, which recognises its rows when it is sent again. payload_seq: null
-- for its own seq. attempts: set when retention has removed the rows of the attempts. same_as: the event whose signed
-- content it repeats. origin: null for a delivery. withheld: true while it waits for a review because of that and was never handled. erased_at: set for every event of a delivery whose bytes were erased; they are never restored.
create table hookonce.events (
  seq bigint primary key default nextval('hookonce.event_seq'),
  payload_seq bigint,
  batch bigint not null,
  received_at timestamptz not null,
  processed_at timestamptz,
  erased_at timestamptz,
  part int not null default 0,
  run int not null default 1,
  attempts int,
  source text collate "C" not null,
  event_id text collate "C" not null,
  event_type text collate "C" not null,
  related_reference text collate "C",
  reference_label text collate "C",
  lane text collate "C",
  content_hash bytea,
  guard_hash bytea,
  same_as text collate "C",
  origin text collate "C" check (origin in ('backfill', 'import')),
  parked text collate "C" check (parked in ('ignored', 'dead')),
  withheld boolean,
  reason text,
  constraint events_once unique (source, event_id)
);
alter sequence hookonce.event_seq owned by hookonce.events.seq;
-- The type is first: with the source first, a look-up by (source, event_id) could be planned over this index while the
-- table is small, and keep that plan when it has grown.
create index events_by_type on hookonce.events (event_type, source, seq);
create index events_by_reference on hookonce.events (related_reference, seq) where related_reference is not null;
create index events_parked on hookonce.events (parked, source, seq) where parked is not null;
create index events_sharing_payload on hookonce.events (payload_seq) where payload_seq is not null;
create index events_flagged on hookonce.events (seq) where same_as is not null;

-- Further references of an event, which has its own one in related_reference.
create table hookonce.event_references (
  seq bigint not null,
  label text collate "C" not null,
  value text collate "C" not null,
  primary key (seq, label, value)
);
create index event_references_by_value on hookonce.event_references (value, seq);

-- reply_*: the answer that the handler of the event with this seq has returned (inline mode).
create table hookonce.payloads (
  seq bigint not null,
  received_at timestamptz not null,
  source text collate "C" not null,
  headers text not null,
  body bytea not null,
  reply_status int,
  reply_headers text,
  reply_body bytea,
  primary key (seq, received_at)
) partition by range (received_at);
${createPartitionFunctions}
select hookonce.ensure_partitions(now(), 3, 'month');

create table hookonce.work (
  seq bigint primary key,
  next_at timestamptz not null,
  claimed_at timestamptz,
  token uuid,
  attempt int not null default 0,
  base_attempt int not null default 0,
  run int not null default 1,
  source text collate "C" not null,
  lane text collate "C",
  worker text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
create index work_due on hookonce.work (source, next_at, seq);
create index work_lanes on hookonce.work (source, lane, seq) where lane is not null;
-- Few rows each, whatever the backlog: leased events of lanes, leased events, and events that wait for another attempt.
create index work_held on hookonce.work (source, lane) where lane is not null and token is not null;
create index work_leased on hookonce.work (source, seq) where token is not null;
create index work_retrying on hookonce.work (source, seq) where token is null and attempt > base_attempt;

-- xid: the transaction of an attempt that used ctx.tx, to find it by a row that it wrote (docs/decisions/0012-why.md).
create table hookonce.attempts (
  seq bigint not null,
  attempt int not null,
  run int not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  worker text not null,
  outcome text collate "C" not null check (outcome in ('succeeded', 'ignored', 'failed', 'lost')),
  detail text,
  place text,
  xid xid8,
  primary key (seq, attempt)
);
create index attempts_by_xid on hookonce.attempts (xid) where xid is not null;
${createPromoteLanes}${createTakeLane}${createSettleSucceeded}
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
  conflicts bigint not null
) with (fillfactor = 70);

-- Other content of an event, by its hash. The highest number is the latest. The bytes are removed by their age, like a
-- payload; the row stays with the event, to recognise content that a person has decided about.
create table hookonce.conflicts (
  seq bigint not null,
  hash bytea not null,
  number bigint generated by default as identity,
  source text collate "C" not null,
  first_at timestamptz not null,
  at timestamptz not null,
  decided_at timestamptz,
  part int not null,
  headers text,
  body bytea,
  primary key (seq, hash)
);
create index conflicts_open on hookonce.conflicts (source, seq) where decided_at is null;
create index conflicts_age on hookonce.conflicts (source, at) where body is not null;

create table hookonce.guards (
  source text collate "C" not null,
  guard_hash bytea not null,
  event_id text collate "C" not null,
  primary key (source, guard_hash)
);
${createLostRace}
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

-- Sums of hours by source. A source has as many rows as were ever written at once: a writer takes one that nobody
-- holds, so no commit waits for another.
create table hookonce.totals (
  source text collate "C" not null,
  part int not null,
  recorded bigint not null,
  ignored bigint not null,
  dead bigint not null,
  primary key (source, part)
) with (fillfactor = 50);

-- Seqs of each hour over all sources. last_seq is rounded up, so only one in a thousand events moves it.
create table hookonce.spans (
  hour timestamptz primary key,
  first_seq bigint not null,
  last_seq bigint not null
) with (fillfactor = 50);
${createTotalsTriggers}
-- level: the length of a bucket in milliseconds. A range of time is a range of the key.
create table hookonce.history (
  level bigint not null,
  at timestamptz not null,
  source text collate "C" not null,
  name text collate "C" not null,
  value bigint not null,
  primary key (level, at, source, name)
) with (fillfactor = 70);

create table hookonce.processes (
  id text collate "C" primary key,
  facts text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
) with (fillfactor = 50);

-- source and event_id are null when the action was not about one event.
create table hookonce.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  verb text not null,
  source text collate "C",
  event_id text collate "C",
  note text not null
);
create index audit_by_event on hookonce.audit (event_id, id) where event_id is not null;
create index audit_age on hookonce.audit (source, at);

-- The deliveries in an archived object that was read back and verified. sha256: only the same bytes are restored.
create table hookonce.archived (
  source text collate "C" not null,
  day date not null,
  object bigint not null,
  seqs bigint[] not null,
  sha256 text not null,
  primary key (source, day, object)
);

-- Partitions that retention has decided to drop. When a process dies in between, the next one finds its row and goes on.
create table hookonce.dropping (
  name text collate "C" primary key,
  low timestamptz not null,
  high timestamptz not null
);

-- The highest seq that retention has removed: a reader that follows the log from below it has missed events.
create table hookonce.pruned (
  source text collate "C" primary key,
  seq bigint not null
);
${createHorizon}
-- source: that of the copies, such as stripe/mail; that of a source without a slash stands for its main consumer. position:
-- every event of the followed source up to this seq was copied or was not asked for.
create table hookonce.consumers (
  source text collate "C" primary key,
  position bigint not null,
  started_at timestamptz not null
) with (fillfactor = 50);

-- What operators have paused. event_type: a type or a glob; empty = all events of the source.
create table hookonce.pauses (
  source text collate "C" not null,
  event_type text collate "C" not null,
  actor text not null,
  note text not null,
  at timestamptz not null,
  primary key (source, event_type)
);

-- Runs of reconcile, the last of each source. report: JSON.
create table hookonce.reconciles (
  id uuid primary key,
  source text collate "C" not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  report text not null
) with (fillfactor = 50);
create index reconciles_by_source on hookonce.reconciles (source, started_at);

-- Limits of handlers across processes, and the slots that processes hold of them. A limit that is not in use has no row.
create table hookonce.limits (
  source text collate "C" not null,
  pattern text collate "C" not null,
  key text collate "C" not null,
  next_start_at timestamptz not null,
  paused_until timestamptz not null,
  primary key (source, pattern, key)
) with (fillfactor = 50);
create index limits_unused on hookonce.limits (next_start_at);
create table hookonce.grants (
  source text collate "C" not null,
  pattern text collate "C" not null,
  key text collate "C" not null,
  holder uuid not null,
  worker text not null,
  slots int not null,
  until timestamptz not null,
  primary key (source, pattern, key, holder),
  foreign key (source, pattern, key) references hookonce.limits on delete cascade
) with (fillfactor = 50);
${createTakeGrant}
-- Written to by ping after a record has failed. External storage is not compressed, so the write has its full size.
-- PostgreSQL 14 cannot set it in create table.
create table hookonce.probe (id int primary key, filler bytea not null);
alter table hookonce.probe alter column filler set storage external;

create view hookonce.event_log as
select
  e.source, e.event_id, e.event_type, e.received_at,
  case when w.seq is null then coalesce(e.processed_at, a.finished_at) end as processed_at,
  ${stateOf} as processing_state,
  e.related_reference
from hookonce.events e
left join hookonce.work w on w.seq = e.seq
left join lateral (
  select a.finished_at from hookonce.attempts a where a.seq = e.seq order by a.attempt desc limit 1
) a on true;
`

export const migrations: readonly Migration[] = [{ number: 1, name: 'log', sql: log }]
