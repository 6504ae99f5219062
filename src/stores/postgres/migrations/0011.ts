/** Migration 11. Published text: it is never changed. `hookonce.` stands for the configured schema. */

/** Counts by time, the processes of the log, and the bodies of conflicts. */
export const history = `
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

-- The latest delivery of an event with other content: removed by its age, like a payload.
create table hookonce.conflicts (
  seq bigint not null,
  hash bytea not null,
  source text collate "C" not null,
  at timestamptz not null,
  part int not null,
  headers text not null,
  body bytea not null,
  primary key (seq, hash)
);
create index conflicts_age on hookonce.conflicts (source, at);

-- What the log knows of the time before this migration: by the hour of arrival.
insert into hookonce.history (level, at, source, name, value)
  select 3600000, h.hour, h.source, n.name, n.value
  from (
    select source, hour, sum(recorded)::bigint as recorded, sum(ignored)::bigint as ignored, sum(dead)::bigint as dead,
      min(first_seq) as first_seq, max(last_seq) as last_seq
    from hookonce.hours group by source, hour
  ) h
  cross join lateral (values ('received', h.recorded), ('recorded', h.recorded), ('ignored', h.ignored),
    ('dead', h.dead), ('succeeded', case when exists (
      select 1 from hookonce.work w where w.seq >= h.first_seq and w.seq <= h.last_seq and w.source = h.source
    ) then 0 else h.recorded - h.ignored - h.dead end)) as n (name, value)
  where n.value > 0;
`
