/**
 * Counters per source and hour of arrival turn a time range into a range of seqs. Triggers sum them in `totals`, which
 * answers `stats`, and in `spans`, the ranges of all sources together.
 */
import { adhoc, type Run, statement } from './connection/statement.js'

interface HourChanges {
  readonly recorded?: string
  readonly ignored?: string
  readonly dead?: string
  /** SQL. Concurrent batches of `record` use different slots, and do not wait for one row. */
  readonly slot?: string
}

const addToHour = `on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead,
    first_seq = least(h.first_seq, excluded.first_seq), last_seq = greatest(h.last_seq, excluded.last_seq)`

/**
 * `rows`: a table or subquery with source, received_at and seq. Rows are written in key order: two transactions then
 * cannot wait for each other.
 */
export function countHours(rows: string, changes: HourChanges): string {
  const { recorded = '0', ignored = '0', dead = '0', slot = '0' } = changes
  const seqs = recorded === 'count(*)' ? 'min(seq), max(seq)' : 'null::bigint, null::bigint'
  return `
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), ${slot}, ${recorded}, ${ignored}, ${dead}, ${seqs}
  from ${rows} group by 1, 2 order by 1, 2
  ${addToHour}`
}

export const countParked = (list: 'ignored' | 'dead'): string => `count(*) filter (where parked = '${list}')`

/** $1 from, ms   $2 to, ms   $3 source */
const ranged = (table: string) => `
select min(first_seq) as first, max(last_seq) as last from ${table}
where hour >= date_trunc('hour', to_timestamp($1::float8 / 1000), 'UTC') and hour < to_timestamp($2::float8 / 1000)`
const anySource = statement('seq_range')`${ranged('hookonce.spans')}`
const oneSource = statement('seq_range_of')`${ranged('hookonce.hours')} and source = $3`

/** Of the events that arrived in [from, to). */
export async function seqRange(
  run: Run,
  from: number,
  to: number,
  source?: string,
): Promise<{ first: number; last: number } | null> {
  const [row] = await run<{ first: number | null; last: number | null }>(
    source === undefined ? anySource : oneSource,
    source === undefined ? [from, to] : [from, to, source],
  )
  return row?.first == null || row.last === null ? null : { first: row.first, last: row.last }
}

const FOLDED = 2_000
const foldSome = adhoc(`
with gone as (
  delete from hookonce.hours h using (
    select source, hour, slot from hookonce.hours
    where slot <> 0 and hour < hookonce.clock() - interval '3 hours' order by source, hour, slot limit ${FOLDED}
    for update skip locked
  ) o where h.source = o.source and h.hour = o.hour and h.slot = o.slot
  returning h.*
),
folded as (
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, hour, 0, sum(recorded), sum(ignored), sum(dead), min(first_seq), max(last_seq)
  from gone group by 1, 2 order by 1, 2
  ${addToHour}
)
select count(*)::int as folded from gone`)

/** Leaves one row for each past hour and source: the processes that wrote the slots may have ended. */
export async function foldHours(run: Run): Promise<void> {
  for (let folded = FOLDED; folded === FOLDED; )
    folded = (await run<{ folded: number }>(foldSome, []))[0]!.folded
}

const added = 'select source, recorded, ignored, dead from added'
const removed = 'select source, -recorded as recorded, -ignored as ignored, -dead as dead from removed'

/** Takes a row of `totals` that nobody holds, or inserts one under a number that only this connection has. */
const addToTotals = (rows: string) => `
  insert into hookonce.totals as t (source, part, recorded, ignored, dead)
  select c.source, coalesce(
    (select f.part from hookonce.totals f where f.source = c.source limit 1 for update skip locked), pg_backend_pid()),
    c.recorded, c.ignored, c.dead
  from (
    select h.source, sum(h.recorded) as recorded, sum(h.ignored) as ignored, sum(h.dead) as dead
    from (${rows}) h group by h.source
    having sum(h.recorded) <> 0 or sum(h.ignored) <> 0 or sum(h.dead) <> 0
  ) c order by c.source
  on conflict (source, part) do update set recorded = t.recorded + excluded.recorded,
    ignored = t.ignored + excluded.ignored, dead = t.dead + excluded.dead;`

// A look-up for each hour, not a join: a plan is kept, and one made for many hours would read all spans.
const widenSpans = `
  insert into hookonce.spans as s (hour, first_seq, last_seq)
  select a.hour, min(a.first_seq), (max(a.last_seq) / 1000 + 1) * 1000
  from added a
  where a.first_seq is not null and (
    select o.first_seq <= a.first_seq and o.last_seq >= a.last_seq from hookonce.spans o where o.hour = a.hour
  ) is not true
  group by a.hour order by a.hour
  on conflict (hour) do update set first_seq = least(s.first_seq, excluded.first_seq),
    last_seq = greatest(s.last_seq, excluded.last_seq);`

/**
 * Triggers run for each statement: a statement that changes many hours would, row by row, write one row of `totals` many
 * times. While an older transaction is open, no version of that row can be removed, so each change would read them all.
 */
export const createTotalsTriggers = `
create or replace function hookonce.count_added_hours() returns trigger language plpgsql as $$
begin${addToTotals(added)}${widenSpans}
  return null;
end $$;
create or replace function hookonce.count_changed_hours() returns trigger language plpgsql as $$
begin${addToTotals(`${added} union all ${removed}`)}${widenSpans}
  return null;
end $$;
create or replace function hookonce.count_removed_hours() returns trigger language plpgsql as $$
begin${addToTotals(removed)}
  return null;
end $$;
create trigger hours_added after insert on hookonce.hours referencing new table as added
  for each statement execute function hookonce.count_added_hours();
create trigger hours_changed after update on hookonce.hours referencing old table as removed new table as added
  for each statement execute function hookonce.count_changed_hours();
create trigger hours_removed after delete on hookonce.hours referencing old table as removed
  for each statement execute function hookonce.count_removed_hours();
`
