/** The text of migration 11. A released migration keeps its exact text. */

/** Counts by time, the processes of the log, and the bodies of conflicts. */
export const history = `
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

-- The latest delivery of an event with other content: removed by its age, like a payload.
create table hookonce_conflicts (
  seq integer not null,
  hash blob not null,
  source text not null,
  at integer not null,
  part integer not null,
  headers text not null,
  body blob not null,
  primary key (seq, hash)
) strict;
create index hookonce_conflicts_age on hookonce_conflicts (source, at);

-- What the log knows of the time before this migration: by the hour of arrival.
insert into hookonce_history (level, at, source, name, value)
  select 3600000, h.hour * 3600000, h.source, n.name, sum(case n.name
    when 'ignored' then h.ignored when 'dead' then h.dead
    when 'succeeded' then h.recorded - h.ignored - h.dead else h.recorded end) as value
  from hookonce_hours h, (select 'received' as name union all select 'recorded' union all select 'ignored'
    union all select 'dead' union all select 'succeeded') n
  where n.name <> 'succeeded'
    or not exists (select 1 from hookonce_work w where w.seq >= h.first_seq and w.seq <= h.last_seq and w.source = h.source)
  group by h.hour, h.source, n.name having sum(case n.name
    when 'ignored' then h.ignored when 'dead' then h.dead
    when 'succeeded' then h.recorded - h.ignored - h.dead else h.recorded end) > 0;
`
