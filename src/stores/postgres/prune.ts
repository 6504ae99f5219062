/**
 * prune: a bounded number of finished events' payloads, and of finished events past their horizon. What is pending,
 * processing or failed is never touched, whatever its age (I7).
 */
import type { PruneOptions, PruneResult } from '../../model.js'
import type { Database, Run, Statement } from './database.js'
import { numbers } from './parameters.js'

/** $1 source   $2 before, ms   $3 limit. A payload that several events share stays while one of them is unfinished. */
const oldPayloads: Statement = {
  name: 'prune_find_payloads',
  sql: `
select p.seq from hookonce.payloads p
where p.source = $1 and p.received_at < to_timestamp($2::float8 / 1000)
  and not exists (
    select 1 from hookonce.events e left join hookonce.work w on w.seq = e.seq
    where e.seq = p.seq and (w.seq is not null or e.parked = 'dead'))
  and not exists (
    select 1 from hookonce.events e left join hookonce.work w on w.seq = e.seq
    where e.payload_seq = p.seq and (w.seq is not null or e.parked = 'dead'))
order by p.seq limit $3`,
}

/** $1 seqs   $2 before, ms */
const dropPayloads: Statement = {
  name: 'prune_payloads',
  sql: `delete from hookonce.payloads where seq = any($1::bigint[]) and received_at < to_timestamp($2::float8 / 1000)`,
}

/** $1 source   $2 before, ms   $3 limit. Locked, so that an order to replay one waits and then does not find it. */
const oldEvents: Statement = {
  name: 'prune_find_events',
  sql: `
select e.seq from hookonce.events e
where e.source = $1 and e.received_at < to_timestamp($2::float8 / 1000)
  and e.seq <= (select max(last_seq) from hookonce.hours where source = $1 and hour < to_timestamp($2::float8 / 1000))
  and e.parked is distinct from 'dead'
  and not exists (select 1 from hookonce.work w where w.seq = e.seq)
order by e.seq limit $3
for update of e skip locked`,
}

const dropEvents: Statement = {
  name: 'prune_events',
  sql: `
with gone as (
  delete from hookonce.events where seq = any($1::bigint[])
  returning seq, payload_seq, source, received_at, event_id, guard_hash, parked
),
attempts as (delete from hookonce.attempts a using gone g where a.seq = g.seq),
effects as (delete from hookonce.effects f using gone g where f.seq = g.seq),
duplicates as (delete from hookonce.duplicates d using gone g where d.seq = g.seq),
guards as (
  delete from hookonce.guards u using gone g
  where u.source = g.source and u.guard_hash = g.guard_hash and u.event_id = g.event_id
),
payloads as (
  delete from hookonce.payloads p using gone g
  where p.seq = coalesce(g.payload_seq, g.seq) and p.received_at = g.received_at
    and not exists (
      select 1 from hookonce.events o where o.payload_seq = g.payload_seq and o.seq <> all($1::bigint[]))
)
insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead)
select source, date_trunc('hour', received_at, 'UTC'), 0, -count(*), -count(*) filter (where parked = 'ignored'), 0
from gone group by 1, 2 order by 1, 2
on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded, ignored = h.ignored + excluded.ignored`,
}

/** $1 source   $2 before, ms: hours in which nothing is left. */
const dropHours: Statement = {
  name: 'prune_hours',
  sql: `
delete from hookonce.hours h where h.source = $1 and h.hour < to_timestamp($2::float8 / 1000)
  and (select sum(o.recorded) from hookonce.hours o where o.source = h.source and o.hour = h.hour) = 0
  and (select sum(o.dead) from hookonce.hours o where o.source = h.source and o.hour = h.hour) = 0`,
}

/** $1 limit. Results that are past their time to live. */
const dropKeys: Statement = {
  name: 'prune_keys',
  sql: `
delete from hookonce.keys where key in (
  select key from hookonce.keys where expires_at <= hookonce.clock() order by expires_at limit $1 for update skip locked)`,
}

export function prune(db: Database, options: PruneOptions): Promise<PruneResult> {
  return db.atomic(async (run) => {
    const payloads = await prunePart(run, options, options.payloadsBefore, oldPayloads, dropPayloads)
    const events = await prunePart(run, options, options.eventsBefore, oldEvents, dropEvents)
    if (!options.dryRun) await run(dropKeys, [options.limit])
    if (events > 0 && !options.dryRun) await run(dropHours, [options.source, options.eventsBefore])
    return {
      payloads,
      events,
      attempts: 0,
      audits: 0,
      more: payloads === options.limit || events === options.limit,
    }
  })
}

async function prunePart(
  run: Run,
  { source, limit, dryRun }: PruneOptions,
  before: number | undefined,
  find: Statement,
  drop: Statement,
): Promise<number> {
  if (before === undefined) return 0
  const seqs = (await run<{ seq: number }>(find, [source, before, limit])).map((row) => row.seq)
  if (seqs.length > 0 && !dryRun)
    await run(drop, drop === dropPayloads ? [numbers(seqs), before] : [numbers(seqs)])
  return seqs.length
}
