/** A migration for logs that grow: statistics and lists whose cost does not depend on how much there is. */
export const growth = `
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
