/** Migrations 4 to 6. Published text: its result is never changed. `hookonce.` stands for the schema. */

/** Retention: erasure, archive receipts, and partitions of months or days. */
export const retention = `
-- erased_at: set for every event of a delivery whose bytes were erased; nothing brings them back.
-- attempts: how many there were, once retention has removed their rows.
alter table hookonce.events add column erased_at timestamptz, add column attempts int;

-- Which bytes are in an object of an archive that was read back and verified.
create table hookonce.archived (
  source text collate "C" not null,
  day date not null,
  object bigint not null,
  seqs bigint[] not null,
  primary key (source, day, object)
);

-- Partitions that retention has decided to drop. A process that dies in between leaves its row, and the next goes on.
create table hookonce.dropping (
  name text collate "C" primary key,
  low timestamptz not null,
  high timestamptz not null
);

-- The partitions of payloads and the time each covers. The catalogue is the truth: a list of our own could differ.
create function hookonce.payload_partitions() returns table (name text, low timestamptz, high timestamptz)
language sql stable set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
  select c.relname::text, (regexp_match(b.bound, 'FROM \\(''([^'']+)''\\)'))[1]::timestamptz,
    (regexp_match(b.bound, 'TO \\(''([^'']+)''\\)'))[1]::timestamptz
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
  where i.inhparent = 'hookonce.payloads'::regclass
$$;

-- Makes a partition for the month or day of an instant, and for the ones after it, where there is none. A range that
-- would overlap one that is there is cut, so that the length can be changed on a log with data.
create function hookonce.ensure_partitions(from_at timestamptz, ahead int, unit text) returns setof text
language plpgsql set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
declare
  step interval := ('1 ' || unit)::interval;
  point timestamptz;
  low timestamptz;
  high timestamptz;
  partition text;
  copy int;
begin
  for i in 0 .. ahead loop
    point := case when i = 0 then from_at else date_trunc(unit, from_at) + i * step end;
    continue when exists (select 1 from hookonce.payload_partitions() p where p.low <= point and p.high > point);
    perform pg_advisory_xact_lock(hashtextextended('hookonce.partitions', 0));
    continue when exists (select 1 from hookonce.payload_partitions() p where p.low <= point and p.high > point);
    low := greatest(date_trunc(unit, point), (select max(p.high) from hookonce.payload_partitions() p where p.high <= point));
    high := least(date_trunc(unit, point) + step, (select min(p.low) from hookonce.payload_partitions() p where p.low > point));
    partition := 'payloads_' || to_char(low, '"y"YYYY"m"MM') || case
      when high = low + interval '1 month' and low = date_trunc('month', low) then ''
      when high = low + interval '1 day' then to_char(low, '"d"DD')
      else to_char(low, '"d"DD') || '_to_' || to_char(high, '"y"YYYY"m"MM"d"DD') end;
    -- One of this name may be on its way out.
    copy := 1;
    while to_regclass(format('hookonce.%I', partition)) is not null loop
      copy := copy + 1;
      partition := regexp_replace(partition, '_copy\\d+$', '') || '_copy' || copy;
    end loop;
    execute format('create table hookonce.%I (like hookonce.payloads including defaults including constraints)', partition);
    execute format('alter table hookonce.payloads attach partition hookonce.%I for values from (%L) to (%L)', partition, low, high);
    return next partition;
  end loop;
end $$;

-- For processes that have not been upgraded yet.
create or replace function hookonce.ensure_partitions(from_at timestamptz, months int) returns int language sql as $$
  select count(*)::int from hookonce.ensure_partitions(from_at, months, 'month')
$$;
`

/** Empty: the clock of this store is the one of the database server, which all processes share. SQLite needs this number. */
export const clock = `
select 1;
`

/** Events that repeat the signed content of another event, and events whose id was contested. */
export const flags = `
-- same_as: the event whose signed content it repeats. Few rows have it.
alter table hookonce.events add column if not exists same_as text collate "C";
create index concurrently if not exists events_flagged on hookonce.events (seq) where same_as is not null;
`
