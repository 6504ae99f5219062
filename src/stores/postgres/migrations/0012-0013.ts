/** Migrations 12 and 13. Published text: it is never changed. `hookonce.` stands for the configured schema. */

/**
 * The text of a trigger function that adds the changed rows of one statement to `totals`. `rows` are the transition
 * tables. The free row of `totals` is chosen as in migration 7: one that nobody holds, so that no commit waits.
 */
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

// A look-up for each hour, and not a join: a plan is kept, and one that was made for many hours would read all spans.
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

const added = 'select source, recorded, ignored, dead from added'
const removed = 'select source, -recorded as recorded, -ignored as ignored, -dead as dead from removed'

/** The sums of hours are kept by a trigger for each statement instead of one for each row. */
export const counting = `
-- A statement that changes many hours changed the same row of totals as many times. While a transaction is open that
-- began earlier (the cursor of an import, a backup), no version of that row can be removed, and each change reads them all.
create function hookonce.count_added_hours() returns trigger language plpgsql as $$
begin${addToTotals(added)}${widenSpans}
  return null;
end $$;
create function hookonce.count_changed_hours() returns trigger language plpgsql as $$
begin${addToTotals(`${added} union all ${removed}`)}${widenSpans}
  return null;
end $$;
create function hookonce.count_removed_hours() returns trigger language plpgsql as $$
begin${addToTotals(removed)}
  return null;
end $$;

-- In one transaction: no row is counted twice or not at all.
drop trigger hours_counted on hookonce.hours;
drop function hookonce.count_hours();
create trigger hours_added after insert on hookonce.hours referencing new table as added
  for each statement execute function hookonce.count_added_hours();
create trigger hours_changed after update on hookonce.hours referencing old table as removed new table as added
  for each statement execute function hookonce.count_changed_hours();
create trigger hours_removed after delete on hookonce.hours referencing old table as removed
  for each statement execute function hookonce.count_removed_hours();
`

/** Audits by age, for retention. */
export const audits = `
create index concurrently if not exists audit_age on hookonce.audit (source, at);
`
