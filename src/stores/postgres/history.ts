import {
  DISTRIBUTION,
  HANDLED_MS,
  type HandledTypes,
  type HistoryNote,
  type HistoryRange,
  type HistoryReport,
  historyLevels,
  levelOf,
  PROCESS_KEPT_MS,
  type ProcessFacts,
  type ProcessSeen,
  typesHandled,
} from '../../store/history.js'
import type { Database } from './connection/database.js'
import { numbers, statement, texts } from './connection/statement.js'

const bucket = (at: string, stepMs: string) =>
  `to_timestamp(floor(extract(epoch from ${at}) * 1000 / ${stepMs}) * ${stepMs} / 1000)`

/**
 * $1-$3 sources, names, values   $4 levels   $5 kept, ms   $6-$7 process id and facts   $8 processes kept, ms. Rows are
 * written in key order: two processes then cannot wait for each other.
 */
const add = statement('history_add')`
with counted as (
  insert into hookonce.history as h (level, at, source, name, value)
  select l.level, ${bucket('hookonce.clock()', 'l.level')}, i.source, i.name, i.value
  from unnest($4::bigint[]) as l (level)
  cross join unnest($1::text[], $2::text[], $3::bigint[]) as i (source, name, value)
  order by 1, 2, 3, 4
  on conflict (level, at, source, name) do update set value = h.value + excluded.value
),
seen as (
  insert into hookonce.processes as p (id, facts, started_at, seen_at)
  values ($6, $7, hookonce.clock(), hookonce.clock())
  on conflict (id) do update set facts = excluded.facts, seen_at = excluded.seen_at
),
gone as (
  delete from hookonce.processes where id in (
    select id from hookonce.processes where seen_at < hookonce.clock() - make_interval(secs => $8::float8 / 1000)
    order by id limit 100 for update skip locked)
)
delete from hookonce.history h using (
  select o.level, o.at, o.source, o.name from unnest($4::bigint[], $5::float8[]) as l (level, kept)
  cross join lateral (
    select * from hookonce.history o
    where o.level = l.level and o.at < hookonce.clock() - make_interval(secs => l.kept / 1000)
    order by o.at, o.source, o.name limit 1000 for update skip locked
  ) o
) o
where h.level = o.level and h.at = o.at and h.source = o.source and h.name = o.name`

export async function addHistory(db: Database, { counts, process }: HistoryNote): Promise<void> {
  await db.query(add, [
    texts(counts.map((count) => count.source)),
    texts(counts.map((count) => count.name)),
    numbers(counts.map((count) => count.value)),
    numbers(historyLevels.map((level) => level.stepMs)),
    numbers(historyLevels.map((level) => level.keptMs)),
    process.id,
    JSON.stringify(process),
    PROCESS_KEPT_MS,
  ])
}

/** $1 level   $2 from, ms   $3 to, ms   $4 step, ms. Parts of a distribution are summed over the whole range. */
const sums = statement('history_read')`
select h.source, h.name, sum(h.value)::bigint as value, case
    when starts_with(h.name, '${DISTRIBUTION}') then $2::float8
    else $2::float8 + floor((extract(epoch from h.at)::float8 * 1000 - $2::float8) / $4::float8) * $4::float8 end as at
from hookonce.history h
where h.level = $1 and h.at >= to_timestamp($2::float8 / 1000) and h.at < to_timestamp($3::float8 / 1000)
group by 1, 2, 4 order by 1, 2, 4`

const bounds = statement('history_bounds')`
select hookonce.clock() as now,
  (select at from hookonce.history where level = $1 order by at limit 1) as since`

export async function readHistory(db: Database, { from, to, stepMs }: HistoryRange): Promise<HistoryReport> {
  const level = levelOf(stepMs)
  const [found] = await db.read<{ now: number; since: number | null }>(bounds, [level])
  const cells = await db.read<HistoryReport['cells'][number]>(sums, [level, from, to, stepMs])
  return { cells, since: found!.since, now: found!.now }
}

const latest = statement('processes')`
select facts, started_at as "startedAt", seen_at as "seenAt" from hookonce.processes
where seen_at >= hookonce.clock() - make_interval(secs => $1::float8 / 1000) order by seen_at desc limit 1000`

export async function processes(db: Database): Promise<ProcessSeen[]> {
  const rows = await db.read<{ facts: string; startedAt: number; seenAt: number }>(latest, [PROCESS_KEPT_MS])
  return rows.map(({ facts, ...times }) => ({ ...(JSON.parse(facts) as ProcessFacts), ...times }))
}

const alive = statement('processes_alive')`
select facts from hookonce.processes where seen_at >= hookonce.clock() - make_interval(secs => $1::float8 / 1000)`

export async function handled(db: Database): Promise<HandledTypes[]> {
  const rows = await db.read<{ facts: string }>(alive, [HANDLED_MS])
  return typesHandled(rows.map(({ facts }) => facts))
}
