/** Migrations 7 to 10. Published text: its result is never changed. `hookonce.` stands for the schema. */

/** Counters and indexes for statistics and lists whose cost does not depend on the size of the log. */
export const growth = `
-- Few rows each, whatever the backlog: events that somebody holds, and events that wait for another attempt.
create index concurrently if not exists work_leased on hookonce.work (source, seq) where token is not null;
create index concurrently if not exists work_retrying on hookonce.work (source, seq) where token is null and attempt > base_attempt;

-- Written to by ping after a record has failed.
create table hookonce.probe (id int primary key, filler bytea not null);
alter table hookonce.probe alter column filler set storage external;

-- The sums of hours by source, kept by a trigger: exact for every writer, also one of an older version. A source has as
-- many rows as were ever written at once: a writer takes one that nobody holds, so that no commit waits for another.
create table hookonce.totals (
  source text collate "C" not null,
  part int not null,
  recorded bigint not null,
  ignored bigint not null,
  dead bigint not null,
  primary key (source, part)
) with (fillfactor = 50);

-- The seqs of each hour over all sources. last_seq is rounded up, so that one in a thousand events moves it.
create table hookonce.spans (
  hour timestamptz primary key,
  first_seq bigint not null,
  last_seq bigint not null
) with (fillfactor = 50);

create function hookonce.count_hours() returns trigger language plpgsql as $$
declare
  h hookonce.hours := coalesce(new, old);
  recorded bigint := coalesce(new.recorded, 0) - coalesce(old.recorded, 0);
  ignored bigint := coalesce(new.ignored, 0) - coalesce(old.ignored, 0);
  dead bigint := coalesce(new.dead, 0) - coalesce(old.dead, 0);
  free int;
  upto bigint := (h.last_seq / 1000 + 1) * 1000;
begin
  if recorded <> 0 or ignored <> 0 or dead <> 0 then
    select t.part into free from hookonce.totals t where t.source = h.source limit 1 for update skip locked;
    -- No other connection that lives has this number, so an insert waits for nobody.
    insert into hookonce.totals as t (source, part, recorded, ignored, dead)
    values (h.source, coalesce(free, pg_backend_pid()), recorded, ignored, dead)
    on conflict (source, part) do update set recorded = t.recorded + excluded.recorded,
      ignored = t.ignored + excluded.ignored, dead = t.dead + excluded.dead;
  end if;
  if tg_op <> 'DELETE' and h.first_seq is not null and not exists (
    select 1 from hookonce.spans s where s.hour = h.hour and s.first_seq <= h.first_seq and s.last_seq >= h.last_seq
  ) then
    insert into hookonce.spans as s (hour, first_seq, last_seq) values (h.hour, h.first_seq, upto)
    on conflict (hour) do update set first_seq = least(s.first_seq, excluded.first_seq),
      last_seq = greatest(s.last_seq, excluded.last_seq);
  end if;
  return null;
end $$;
lock table hookonce.hours in share row exclusive mode;
insert into hookonce.totals (source, part, recorded, ignored, dead)
  select source, 0, sum(recorded), sum(ignored), sum(dead) from hookonce.hours group by source;
insert into hookonce.spans (hour, first_seq, last_seq)
  select hour, min(first_seq), (max(last_seq) / 1000 + 1) * 1000 from hookonce.hours where first_seq is not null group by hour;
create trigger hours_counted after insert or update or delete on hookonce.hours
  for each row execute function hookonce.count_hours();

-- Hours that have passed need no row for each slot: the processes that used them may have ended long ago.
create function hookonce.fold_hours(most int) returns int language plpgsql as $$
declare
  folded int;
begin
  with gone as (
    delete from hookonce.hours h using (
      select source, hour, slot from hookonce.hours
      where slot <> 0 and hour < hookonce.clock() - interval '3 hours' order by source, hour, slot limit most
      for update skip locked
    ) o where h.source = o.source and h.hour = o.hour and h.slot = o.slot
    returning h.*
  ),
  kept as (
    insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
    select source, hour, 0, sum(recorded), sum(ignored), sum(dead), min(first_seq), max(last_seq)
    from gone group by 1, 2 order by 1, 2
    on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
      ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead,
      first_seq = least(h.first_seq, excluded.first_seq), last_seq = greatest(h.last_seq, excluded.last_seq)
  )
  select count(*) into folded from gone;
  return folded;
end $$;
`

/** Lanes: `promote_lanes`, and the current text of `settle_succeeded`. */
export const lanes = `
-- Makes the next event of a lane due after the event with this seq has left work. Called after the delete, because each
-- command in here has a snapshot of its own: an event that was parked behind the deleted one while the delete waited for
-- its lock is seen. The next one is locked first and looked at afterwards, for the same reason.
create function hookonce.promote_lanes(seqs bigint[], sources text[], lanes text[]) returns void language plpgsql as $$
declare
  heads bigint[];
begin
  select array_agg(n.seq) into heads from unnest(seqs, sources, lanes) as i (seq, source, lane)
  cross join lateral (
    select h.seq from hookonce.work h where h.source = i.source and h.lane = i.lane and h.seq > i.seq
    order by h.seq limit 1 for no key update
  ) n;
  -- One that was claimed before has a time of its own: its next attempt, or the end of the delay it was handed back with.
  update hookonce.work w set next_at = hookonce.clock()
  where w.seq = any(heads) and w.token is null and w.claimed_at is null and w.next_at > hookonce.clock();
end $$;

create or replace function hookonce.settle_succeeded(event_seq bigint, lease uuid, duration_ms float8) returns void language plpgsql as $$
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
    perform hookonce.promote_lanes(array[event_seq], array[held.source], array[held.lane]);
  end if;
end $$;
`

/** The rest of events that retention has removed (docs/decisions/0005-tombstones.md). */
export const tombstones = `
select 1;
`

/** Old and new processes on one log during a deploy. */
export const deploys = `
-- compatible_from: the oldest schema number a process must know to work with this migration. version: of the hookonce
-- that applied it.
alter table hookonce.migrations add column compatible_from int, add column version text;
`
