import type { Grant, Granted, GrantHolder, GrantRequest, LimitState } from '../../store.js'
import {
  LEASE_GRACE_MS,
  LEASE_SLACK_MS,
  STARTS_AHEAD_MS,
  STARTS_SLACK_MS,
  UNUSED_MS,
} from '../shared/grants.js'
import type { Database } from './connection/database.js'
import { numbers, statement, texts } from './connection/statement.js'

const ms = (value: number): string => `interval '${value} milliseconds'`
const instant = (column: string): string => `extract(epoch from ${column})::float8 * 1000`

/**
 * The row of the limit is locked first, and each command of a function has a new snapshot: the slots that are counted after
 * that are those of all transactions that held the lock before. In one statement they would be as old as the statement.
 */
export const createTakeGrant = `
create or replace function hookonce.take_grant(of_source text, of_pattern text, of_key text, of_holder uuid, of_worker text,
  lease_ms float8, wanted int, most int, wanted_starts int, spacing_ms float8, pause_ms float8,
  out slots int, out starts int, out first_start_at timestamptz, out paused_until timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
  at constant timestamptz := hookonce.clock();
  found_limit hookonce.limits;
  next_free timestamptz;
begin
  loop
    select * into found_limit from hookonce.limits l
    where l.source = of_source and l.pattern = of_pattern and l.key = of_key for update;
    exit when found;
    insert into hookonce.limits (source, pattern, key, next_start_at, paused_until)
    values (of_source, of_pattern, of_key, at, at) on conflict do nothing;
  end loop;
  if found_limit.next_start_at > at + ${ms(STARTS_SLACK_MS)} + 2 * make_interval(secs => spacing_ms / 1000) then
    found_limit.next_start_at := at;
  end if;
  paused_until := greatest(found_limit.paused_until, at + make_interval(secs => pause_ms / 1000));
  slots := 0;
  if most is not null then
    delete from hookonce.grants g
    where g.source = of_source and g.pattern = of_pattern and g.key = of_key and g.holder <> of_holder
      and (g.until <= at or g.until > at + greatest(${ms(LEASE_SLACK_MS)}, make_interval(secs => lease_ms / 500)))
      and not exists (select 1 from hookonce.work w
        where w.source = of_source and w.token is not null and w.worker = g.worker and w.next_at > at - ${ms(LEASE_GRACE_MS)});
    select greatest(0, least(wanted, most - coalesce(sum(g.slots), 0))) into slots from hookonce.grants g
    where g.source = of_source and g.pattern = of_pattern and g.key = of_key and g.holder <> of_holder;
    if slots = 0 then
      delete from hookonce.grants g
      where g.source = of_source and g.pattern = of_pattern and g.key = of_key and g.holder = of_holder;
    else
      insert into hookonce.grants (source, pattern, key, holder, worker, slots, until)
      values (of_source, of_pattern, of_key, of_holder, of_worker, slots, at + make_interval(secs => lease_ms / 1000))
      on conflict (source, pattern, key, holder) do update set slots = excluded.slots, until = excluded.until;
    end if;
  end if;
  first_start_at := greatest(at, found_limit.next_start_at, paused_until);
  starts := case when first_start_at <= at + ${ms(STARTS_AHEAD_MS)} then coalesce(wanted_starts, 0) else 0 end;
  next_free := case when starts > 0 then first_start_at + starts * make_interval(secs => spacing_ms / 1000)
    else greatest(at, found_limit.next_start_at) end;
  if slots = 0 and coalesce(wanted_starts, 0) = 0 and next_free <= at and paused_until <= at then
    delete from hookonce.limits l where l.source = of_source and l.pattern = of_pattern and l.key = of_key
      and not exists (select 1 from hookonce.grants g
        where g.source = of_source and g.pattern = of_pattern and g.key = of_key);
  else
    update hookonce.limits l set next_start_at = next_free, paused_until = take_grant.paused_until
    where l.source = of_source and l.pattern = of_pattern and l.key = of_key;
  end if;
end $$;
`

/**
 * $1 holder   $2 worker   $3 lease in ms   $4 sources   $5 patterns   $6 keys   $7 slots wanted   $8 slots in all processes
 * $9 starts wanted   $10 spacing in ms   $11 pause in ms
 *
 * In the order of the names: two calls that lock the same limits do not wait for each other. Limits that a process which
 * died has left behind are removed here.
 */
const take = statement('grants_take')`
with wanted as materialized (
  select * from unnest($4::text[], $5::text[], $6::text[], $7::int[], $8::int[], $9::int[], $10::float8[], $11::float8[])
    with ordinality as i (source, pattern, key, slots, most, starts, spacing_ms, pause_ms, n)
  order by source collate "C", pattern collate "C", key collate "C"
),
unused as (
  delete from hookonce.limits l where (l.source, l.pattern, l.key) in (
    select u.source, u.pattern, u.key from hookonce.limits u
    where u.next_start_at < hookonce.clock() - ${ms(UNUSED_MS)} and u.paused_until < hookonce.clock()
      and (u.source, u.pattern, u.key) not in (select source, pattern, key from wanted)
      and not exists (select 1 from hookonce.grants g where g.source = u.source and g.pattern = u.pattern and g.key = u.key
        and g.until > hookonce.clock() - ${ms(UNUSED_MS)})
    order by u.next_start_at limit 10 for update skip locked)
)
select i.n::int, g.slots, g.starts, ${instant('g.first_start_at')} as "firstStartAt",
  case when g.paused_until > hookonce.clock() then ${instant('g.paused_until')} else 0 end as "pausedUntil",
  ${instant('hookonce.clock()')} as now
from wanted i
cross join lateral hookonce.take_grant(i.source, i.pattern, i.key, $1::uuid, $2, $3::float8, i.slots, i.most, i.starts,
  i.spacing_ms, coalesce(i.pause_ms, 0)) g`

export async function takeGrants(
  db: Database,
  { id, worker, leaseMs }: GrantHolder,
  requests: readonly GrantRequest[],
): Promise<Granted> {
  const rows = await db.query<Grant & { n: number; now: number }>(take, [
    ...[id, worker, leaseMs],
    texts(requests.map(({ source }) => source)),
    texts(requests.map(({ pattern }) => pattern)),
    texts(requests.map(({ key }) => key)),
    numbers(requests.map(({ slots }) => slots?.wanted ?? null)),
    numbers(requests.map(({ slots }) => slots?.most ?? null)),
    numbers(requests.map(({ starts }) => starts?.wanted ?? null)),
    numbers(requests.map(({ starts }) => starts?.spacingMs ?? null)),
    numbers(requests.map(({ pauseMs }) => pauseMs ?? null)),
  ])
  const grants = new Array<Grant>(requests.length)
  for (const { n, slots, starts, firstStartAt, pausedUntil } of rows)
    grants[n - 1] = { slots, starts, firstStartAt, pausedUntil }
  return { now: rows[0]?.now ?? 0, grants }
}

const inUse = statement('limits')`
select l.source, l.pattern, l.key, coalesce(g.slots, 0)::int as slots, ${instant('l.next_start_at')} as "nextStartAt",
  ${instant('l.paused_until')} as "pausedUntil"
from hookonce.limits l
left join lateral (
  select sum(g.slots) as slots from hookonce.grants g where g.source = l.source and g.pattern = l.pattern and g.key = l.key
) g on true
where $1::text is null or l.source = $1
order by greatest(l.paused_until, l.next_start_at) desc, l.source, l.pattern, l.key limit $2`

export function listLimits(
  db: Database,
  { source, limit }: { readonly source?: string; readonly limit: number },
): Promise<LimitState[]> {
  return db.read<LimitState>(inUse, [source ?? null, limit])
}
