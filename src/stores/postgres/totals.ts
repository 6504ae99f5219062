/**
 * Triggers on `hours` that keep `totals` and `spans`. They run for each statement, not for each row: a statement that
 * changes many hours would write the same row of `totals` as many times, and while an older transaction is open (the
 * cursor of an import, a backup) no version of that row can be removed, so each change would read them all.
 */

const added = 'select source, recorded, ignored, dead from added'
const removed = 'select source, -recorded as recorded, -ignored as ignored, -dead as dead from removed'

/** Takes a row of `totals` that nobody holds. Without one it inserts a row under a number that only this connection has. */
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

// A look-up for each hour instead of a join: a plan is kept, and one made for many hours would read all spans.
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
