/**
 * The schema as numbered migrations, with the same numbers and names as in the other stores. A released migration keeps
 * its exact text. The tables share the file with the user's own tables, hence the prefix. Instants are milliseconds
 * since 1970.
 */
import type { Migration } from '../../store.js'
import { log, order, reading } from './migrations-1-to-3.js'
import { history } from './migrations-11.js'

/** Migration 4: erasure, and receipts of archived deliveries. */
const keeping = `
-- Set for every event of a delivery whose bytes were erased: nothing brings them back.
alter table hookonce_events add column erased_at integer;

-- Which bytes are in an object of an archive that was read back and verified; seqs is a JSON list.
create table hookonce_archived (
  source text not null,
  day text not null,
  object integer not null,
  first_seq integer not null,
  last_seq integer not null,
  seqs text not null,
  primary key (source, day, object)
) strict;
create index hookonce_archived_seqs on hookonce_archived (source, last_seq);
`

/** Migration 5: the newest time written into the log, so that its time never runs backwards. */
const clock = `
create table hookonce_clock (
  id integer primary key check (id = 1),
  at integer not null
) strict;
insert into hookonce_clock (id, at)
  values (1, coalesce((select received_at from hookonce_events order by seq desc limit 1), 0));
`

/** Migration 6: events that repeat the signed content of another, and events whose id was contested. */
const flags = `
-- same_as: the event whose signed content it repeats. Few rows have it.
alter table hookonce_events add column same_as text;
create index hookonce_events_flagged on hookonce_events (seq) where same_as is not null;
`

/** Migration 7: counters and indexes that keep the cost of statistics and lists independent of the size of the log. */
const growth = `
-- Written to by ping after a record has failed.
create table hookonce_probe (id integer primary key, filler blob not null) strict;

-- The sums of hours by source, and how many events wait: kept by triggers, exact for every writer.
create table hookonce_totals (
  source text primary key,
  recorded integer not null default 0,
  ignored integer not null default 0,
  dead integer not null default 0,
  work integer not null default 0
) strict, without rowid;
insert into hookonce_totals (source, recorded, ignored, dead)
  select source, sum(recorded), sum(ignored), sum(dead) from hookonce_hours group by source;
insert into hookonce_totals (source, work) select source, count(*) from hookonce_work where true group by source
  on conflict (source) do update set work = excluded.work;

-- The seqs of each hour over all sources.
create table hookonce_spans (
  hour integer primary key,
  first_seq integer not null,
  last_seq integer not null
) strict;
insert into hookonce_spans (hour, first_seq, last_seq)
  select hour, min(first_seq), max(last_seq) from hookonce_hours group by hour;

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

-- Few rows each, whatever the backlog: events that somebody holds, and events that wait for another attempt.
create index hookonce_work_leased on hookonce_work (source, seq) where token is not null;
create index hookonce_work_retrying on hookonce_work (source, seq) where token is null and attempt > base_attempt;
`

/** Migration 8: empty here. In PostgreSQL it creates the function that makes the next event of a lane due. */
const lanes = `
select 1;
`

/** Migration 9: tombstones of events that retention has removed (docs/decisions/0005-tombstones.md). */
const tombstones = `
-- nothing
`

/** Migration 10: processes of an older and a newer version on one log. */
const deploys = `
-- compatible_from: the oldest schema number a process must know to work with this migration. version: of the hookonce
-- that applied it.
alter table hookonce_migrations add column compatible_from integer;
alter table hookonce_migrations add column version text;
`

/** Migration 12: empty here. In PostgreSQL it replaces the trigger that keeps the totals. */
const counting = `
select 1;
`

/** Migration 13: audits by age, for retention. */
const audits = `
create index hookonce_audit_age on hookonce_audit (source, at);
`

/** Migration 14: the digest of an archived object, so that only the same bytes are restored. */
const receipts = `
alter table hookonce_archived add column sha256 text;
`

export const migrations: readonly Migration[] = [
  { number: 1, name: 'log', sql: log.trim() },
  { number: 2, name: 'order', sql: order.trim() },
  { number: 3, name: 'reading', sql: reading.trim() },
  { number: 4, name: 'keeping', sql: keeping.trim() },
  { number: 5, name: 'clock', sql: clock.trim() },
  { number: 6, name: 'flags', sql: flags.trim() },
  { number: 7, name: 'growth', sql: growth.trim() },
  { number: 8, name: 'lanes', sql: lanes.trim() },
  { number: 9, name: 'tombstones', sql: tombstones.trim() },
  { number: 10, name: 'deploys', sql: deploys.trim() },
  { number: 11, name: 'history', sql: history.trim() },
  { number: 12, name: 'counting', sql: counting.trim() },
  { number: 13, name: 'audits', sql: audits.trim() },
  { number: 14, name: 'receipts', sql: receipts.trim() },
]
