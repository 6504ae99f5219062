/** Reads for people: effects, dead letters, leases, types and beginnings of ids. */
import type { EventKey } from '../../model.js'
import type {
  DeadLetterGroup,
  DeadLetterOptions,
  DeadLetters,
  Effect,
  SourceTypes,
  WorkerLeases,
} from '../../store.js'
import type { Database } from './connection/database.js'
import { statement } from './connection/statement.js'

const effects = statement('effects')`
select f.name, f.started_at as "startedAt", f.finished_at as "finishedAt"
from hookonce.events e join hookonce.effects f on f.seq = e.seq
where e.source = $1 and e.event_id = $2 order by f.started_at, f.name`

export function effectsOf(db: Database, { source, id }: EventKey): Promise<Effect[]> {
  return db.read<Effect>(effects, [source, id])
}

/** $1 source or null   $2 the most rows. One source with many dead letters must not hide those of others. */
const dead = statement('dead_letters')`
with known as (
  select source, sum(dead) as dead from hookonce.totals where $1::text is null or source = $1
  group by source having sum(dead) > 0
),
share as (select greatest(1, $2::bigint / greatest(1, (select count(*) from known))) as most),
rows as (
  select r.* from known k cross join lateral (
    select e.seq, e.source, e.event_id, e.event_type, e.reason, e.processed_at from hookonce.events e
    where e.parked = 'dead' and e.source = k.source order by e.seq desc limit (select most from share)
  ) r
)
select source, event_type as type, reason as error, count(*)::int as count, min(processed_at) as "firstAt",
  max(processed_at) as "lastAt", (array_agg(event_id order by seq desc))[1] as "eventId",
  (select coalesce(bool_or(k.dead > s.most), false) from known k cross join share s) as cut
from rows group by source, event_type, reason`

export async function deadLetters(db: Database, { source, limit }: DeadLetterOptions): Promise<DeadLetters> {
  const rows = await db.read<DeadLetterGroup & { cut: boolean }>(dead, [source ?? null, limit])
  return {
    groups: rows.map(({ cut: _, ...group }) => group),
    scanned: rows.reduce((sum, { count }) => sum + count, 0),
    cut: rows.some(({ cut }) => cut),
  }
}

const LEASES = 20_000
const leases = statement('leases')`
select worker, count(*)::int as leases, (count(*) filter (where next_at <= hookonce.clock()))::int as expired,
  min(claimed_at) as "oldestClaimedAt", min(next_at) filter (where next_at > hookonce.clock()) as "expiresAt"
from (select worker, next_at, claimed_at from hookonce.work where token is not null limit ${LEASES}) w
group by worker order by worker`

export function leasesOf(db: Database): Promise<WorkerLeases[]> {
  return db.read<WorkerLeases>(leases, [])
}

/** $1 the most pairs. One index look-up for each pair. */
const pairs = statement('types')`
with recursive hop as (
  (select event_type, source, 1 as n from hookonce.events order by event_type, source limit 1)
  union all
  select next.event_type, next.source, hop.n + 1 from hop cross join lateral (
    select e.event_type, e.source from hookonce.events e
    where (e.event_type, e.source) > (hop.event_type, hop.source) order by e.event_type, e.source limit 1
  ) next
  where hop.n < $1
)
select source, array_agg(event_type order by event_type) as types from hop group by source order by source`

const PAIRS = 5_000

export async function typesOf(db: Database, limit: number): Promise<SourceTypes[]> {
  const rows = await db.read<{ source: string; types: string[] }>(pairs, [PAIRS])
  return rows.map(({ source, types }) => ({
    source,
    types: types.slice(0, limit),
    more: types.length > limit,
  }))
}

/** $1 prefix   $2 limit. The unique index has byte order. */
const byPrefix = statement('ids_from')`
select i.source, i.event_id as id
from (select distinct source from hookonce.totals) k cross join lateral (
  select e.source, e.event_id from hookonce.events e
  where e.source = k.source and e.event_id >= $1 and e.event_id < $1 || U&'\\+10FFFF' collate "C"
  order by e.event_id limit $2
) i
order by i.source, i.event_id limit $2`

export function idsFrom(db: Database, prefix: string, limit: number): Promise<EventKey[]> {
  return db.read<EventKey>(byPrefix, [prefix, limit])
}
