import { HookonceError } from '../../errors.js'
import type { Database } from './connection/database.js'
import { isPartitionMissing } from './connection/failure.js'
import type { MaintainSession } from './connection/maintain-session.js'
import type { PartitionUnit } from './connection/pools.js'
import { adhoc, numbers, type Run, statement, texts } from './connection/statement.js'

export const createPartitionFunctions = `
-- Partitions and the time each covers, from the catalogue: a list in a table could differ from it.
create or replace function hookonce.payload_partitions() returns table (name text, low timestamptz, high timestamptz)
language sql stable set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
  select c.relname::text, (regexp_match(b.bound, 'FROM \\(''([^'']+)''\\)'))[1]::timestamptz,
    (regexp_match(b.bound, 'TO \\(''([^'']+)''\\)'))[1]::timestamptz
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
  where i.inhparent = 'hookonce.payloads'::regclass
$$;

-- Makes a partition for the month or day of an instant, and for the ones after it, where there is none. A range that would
-- overlap an existing one is cut, so the unit can be changed on a log with data. A partition is made as a plain table and
-- attached, because that does not block readers and writers of the others.
create or replace function hookonce.ensure_partitions(from_at timestamptz, ahead int, unit text) returns setof text
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
    -- A partition of this name may be about to be dropped.
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
`

/** $1 instant, ms, or null for now   $2 how many after it   $3 unit */
export const ensurePartitions = statement('ensure_partitions')`
select name from hookonce.ensure_partitions(coalesce(to_timestamp($1::float8 / 1000), hookonce.clock()), $2::int, $3) as name`

/**
 * `run` writes payloads of these instants (null: now). Partitions are made only when one is missing: old rows come in any
 * order of time, so every batch would ask for every day.
 */
export async function inPartitions<T>(
  db: Database,
  instants: () => Iterable<number | null>,
  run: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!isPartitionMissing(error)) throw error
      // A new partition can be made after the drop.
      if (tries === 3) throw new HookonceError('STORE_BUSY', { problem: 'a partition is being dropped' })
      for (const at of new Set(instants()))
        await db.query(ensurePartitions, [at, at === null ? 1 : 0, db.partitions])
    }
  }
}

export const countAhead = statement(
  'partitions_ahead',
)`select count(*)::int as ahead from hookonce.payload_partitions() where low > hookonce.clock()`

export interface Partition {
  readonly name: string
  /** Milliseconds, from `low` to before `high`. */
  readonly low: number
  readonly high: number
}

export interface DropLimits {
  readonly unit: PartitionUnit
  /** Payloads of these sources may be removed. */
  readonly allowed: readonly string[]
  readonly archivedOnly: readonly string[]
  readonly dryRun: boolean
}

/** $1 low, ms   $2 high, ms */
const range =
  'e.received_at >= to_timestamp($1::float8 / 1000) and e.received_at < to_timestamp($2::float8 / 1000)'
const seqs = `
  select min(first_seq) as first, max(last_seq) as last from hookonce.hours
  where hour >= to_timestamp($1::float8 / 1000) and hour < to_timestamp($2::float8 / 1000)`

/** These events still need their payload. Limited by seq: neither a backlog nor the log is scanned. */
const unfinished = `
  select e.seq, e.payload_seq from (${seqs}) s
  join hookonce.work w on w.seq between s.first and s.last
  join hookonce.events e on e.seq = w.seq where ${range}
  union all
  select e.seq, e.payload_seq from (${seqs}) s
  join hookonce.events e on e.parked = 'dead' and e.seq between s.first and s.last where ${range}`

const findUnfinished = adhoc(`select 1 from (${unfinished}) u limit 1`)
const findLive = adhoc(`select distinct coalesce(payload_seq, seq) as seq from (${unfinished}) u`)
const findSources = adhoc(`
select source from hookonce.hours
where hour >= to_timestamp($1::float8 / 1000) and hour < to_timestamp($2::float8 / 1000)
group by source having sum(recorded) > 0`)

/**
 * Records the decision, detaches the partition, checks again, drops it. A detached partition gets no new rows, so the
 * last check is final. Payloads that must stay after all (of a retried event, of a source that keeps its payloads, or not
 * yet archived) move to a new partition in the transaction that drops the old one.
 *
 * Returns the number of payloads removed; null when the partition stays.
 */
export async function dropPartition(
  session: MaintainSession,
  partition: Partition,
  limits: DropLimits,
): Promise<number | null> {
  const { run } = session
  const table = `hookonce."${partition.name}"`
  const [found] = await run<{ detaching: boolean | null }>(lookFor(table), [])
  if (!found) {
    await run(forget, [partition.name])
    return null
  }
  if (found.detaching === false) {
    if (!(await mayGo(run, partition, limits))) {
      if (!limits.dryRun) await run(forget, [partition.name])
      return null
    }
    if (limits.dryRun) return count(run, table)
    await run(decide, [partition.name, partition.low, partition.high])
  }
  if (found.detaching !== null) {
    // Every insert would wait for the longest running read of payloads without CONCURRENTLY.
    const how = found.detaching ? 'finalize' : 'concurrently'
    await session.alone(`alter table hookonce.payloads detach partition ${table} ${how}`)
  }
  const payloads = await count(run, table)
  return payloads - (await session.atomic((inside) => rescueAndDrop(inside, table, partition, limits)))
}

async function mayGo(run: Run, partition: Partition, limits: DropLimits): Promise<boolean> {
  if ((await sourcesThatStay(run, partition, limits)).length > 0) return false
  return (await run(findUnfinished, [partition.low, partition.high])).length === 0
}

const decide = adhoc(`
insert into hookonce.dropping (name, low, high)
values ($1, to_timestamp($2::float8 / 1000), to_timestamp($3::float8 / 1000)) on conflict do nothing`)
const forget = adhoc('delete from hookonce.dropping where name = $1')

async function sourcesThatStay(
  run: Run,
  { low, high }: Partition,
  { allowed }: DropLimits,
): Promise<string[]> {
  const rows = await run<{ source: string }>(findSources, [low, high])
  return rows.map((row) => row.source).filter((source) => !allowed.includes(source))
}

/** No row for a partition that was dropped, null for one that was detached. */
const lookFor = (table: string) =>
  adhoc(`
select i.inhdetachpending as detaching from pg_class c
left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'hookonce.payloads'::regclass
where c.oid = to_regclass('${table}')`)

/** Rows are counted up to this size; above it the planner’s estimate is used. */
const COUNTED_BYTES = 64 * 1024 * 1024

async function count(run: Run, table: string): Promise<number> {
  const [size] = await run<{ estimate: number; bytes: number }>(
    adhoc(`
select c.reltuples::float8 as estimate, pg_relation_size(c.oid)::float8 as bytes
from pg_class c where c.oid = '${table}'::regclass`),
    [],
  )
  if (size && size.bytes > COUNTED_BYTES && size.estimate >= 0) return Math.round(size.estimate)
  const [counted] = await run<{ rows: number }>(adhoc(`select count(*) as rows from ${table}`), [])
  return counted!.rows
}

/** Returns the number of payloads that had to stay. */
async function rescueAndDrop(
  run: Run,
  table: string,
  partition: Partition,
  limits: DropLimits,
): Promise<number> {
  const staying = await mustStay(run, table, partition, limits)
  for (let i = 0; i < staying.length; i += MOVED) {
    const some = numbers(staying.slice(i, i + MOVED))
    await ensureFor(run, table, some, limits.unit)
    await run(move(table), [some])
  }
  await run(adhoc(`drop table ${table}`), [])
  await run(forget, [partition.name])
  return staying.length
}

const MOVED = 5_000

const move = (table: string) =>
  adhoc(`
insert into hookonce.payloads (seq, received_at, source, headers, body, reply_status, reply_headers, reply_body)
select seq, received_at, source, headers, body, reply_status, reply_headers, reply_body from ${table} where seq = any($1::bigint[]) on conflict do nothing`)

/** Each day with payloads to move gets a partition: the unit may have changed from months to days. */
async function ensureFor(run: Run, table: string, some: string, unit: PartitionUnit): Promise<void> {
  const days = await run<{ at: number }>(
    adhoc(
      `select distinct date_trunc('day', received_at, 'UTC') as at from ${table} where seq = any($1::bigint[])`,
    ),
    [some],
  )
  for (const { at } of days) await run(ensurePartitions, [at, 0, unit])
}

async function mustStay(
  run: Run,
  table: string,
  partition: Partition,
  limits: DropLimits,
): Promise<number[]> {
  const times = [partition.low, partition.high]
  // There are few; a join could be planned as a scan of the partition.
  const live = await run<{ seq: number }>(findLive, times)
  const needed =
    live.length === 0
      ? []
      : await run<{ seq: number }>(adhoc(`select d.seq from ${table} d where d.seq = any($1::bigint[])`), [
          numbers(live.map((row) => row.seq)),
        ])
  const kept = await sourcesThatStay(run, partition, limits)
  const theirs =
    kept.length === 0
      ? []
      : await run<{ seq: number }>(adhoc(`select d.seq from ${table} d where d.source = any($1::text[])`), [
          texts(kept),
        ])
  const unarchived =
    limits.archivedOnly.length === 0
      ? []
      : await run<{ seq: number }>(
          adhoc(`
select d.seq from ${table} d where d.source = any($3::text[]) and d.seq not in (
  select unnest(a.seqs) from hookonce.archived a where a.source = any($3::text[])
    and a.day >= (to_timestamp($1::float8 / 1000) at time zone 'utc')::date
    and a.day < (to_timestamp($2::float8 / 1000) at time zone 'utc')::date)`),
          [...times, texts(limits.archivedOnly)],
        )
  return [...new Set([...needed, ...theirs, ...unarchived].map((row) => row.seq))]
}
