/**
 * Rows are found, then locked, then checked again by the statement that removes them: an operator may have retried the
 * event in the meantime.
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import { type PrunedLog, prune as pruneLog, type Swept } from '../shared/prune.js'
import { runAwaiting } from '../shared/steps.js'
import { archivedSeqs } from './archive.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, type Statement, statement } from './connection/statement.js'
import { countHours, countParked, seqRange } from './hours.js'

export function pruner(db: Database): (options: PruneOptions) => Promise<PruneResult> {
  const places = new Map<string, number>()
  return (options) => {
    const prune = (run: Run) => runAwaiting(pruneLog(prunedLog(run, places, options), options))
    return options.dryRun ? prune(db.read) : db.atomic(prune)
  }
}

interface Found {
  readonly seq: number
  readonly attempt: number
}

function prunedLog(
  run: Run,
  places: Map<string, number>,
  { source, archivedOnly }: PruneOptions,
): PrunedLog<Found> {
  const find: Record<Swept, Statement> = {
    payloads: archivedOnly ? findArchivedPayloads : findPayloads,
    events: archivedOnly ? findArchivedEvents : findEvents,
    attempts: findAttempts,
  }
  const counted = async (drop: Statement, values: unknown[]) =>
    (await run<{ count: number }>(drop, values))[0]!.count
  return {
    places,
    range: (before) => seqRange(run, 0, before, source),
    find: (kind, ...window) => run<Found>(find[kind], [source, ...window]),
    async remove(kind, rows, before) {
      const seqs = numbers(rows.map((row) => row.seq))
      await run(kind === 'payloads' ? lockSharing : lockEvents, [seqs])
      if (kind === 'payloads') return counted(dropPayloads, [seqs])
      if (kind === 'attempts') return counted(dropAttempts, [seqs, numbers(rows.map((row) => row.attempt))])
      const [gone] = await run<{ count: number; highest: number }>(dropEvents, [seqs])
      if (gone!.highest > 0) {
        await run(notePruned, [source, gone!.highest])
        await run(dropHours, [source, before])
      }
      return gone!.count
    },
    removeReceipts: (before) => run(dropReceipts, [source, before]),
    findAudits: async (before, limit) =>
      (await run<{ id: number }>(findAudits, [source, before, limit])).map(({ id }) => id),
    removeAudits: (ids) => run(dropAudits, [numbers(ids)]),
    removeConflicts: (before, limit) => counted(clearConflicts, [source, before, limit]),
    removeKeys: (limit) => counted(dropKeys, [limit]),
  }
}

const unfinished = (event: string) => `
    select 1 from hookonce.events o left join hookonce.work w on w.seq = o.seq
    where ${event} and (w.seq is not null or o.parked = 'dead')`

const inArchive = `in (${archivedSeqs})`

const oldPayloads = `
select distinct p.seq
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.received_at < to_timestamp($2::float8 / 1000) and e.seq >= $3 and e.seq < $4
  and not exists (${unfinished('o.seq = p.seq')})
  and not exists (${unfinished('o.payload_seq = p.seq')})`

const findPayloads = statement('prune_find_payloads')`${oldPayloads} limit $5`
const findArchivedPayloads = statement(
  'prune_find_archived_payloads',
)`${oldPayloads} and p.seq ${inArchive} limit $5`

const oldEvents = `
select e.seq from hookonce.events e
where e.source = $1 and e.received_at < to_timestamp($2::float8 / 1000) and e.seq >= $3 and e.seq < $4
  and not exists (${unfinished('o.seq = e.seq')})`

const findEvents = statement('prune_find_events')`${oldEvents} order by e.seq limit $5`
const findArchivedEvents = statement('prune_find_archived_events')`${oldEvents}
  and (coalesce(e.payload_seq, e.seq) ${inArchive}
    or not exists (select 1 from hookonce.payloads p
      where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at))
order by e.seq limit $5`

const findAttempts = statement('prune_find_attempts')`
select a.seq, a.attempt from hookonce.events e join hookonce.attempts a on a.seq = e.seq
where e.source = $1 and a.finished_at < to_timestamp($2::float8 / 1000) and e.seq >= $3 and e.seq < $4
  and not exists (${unfinished('o.seq = e.seq')})
order by a.seq, a.attempt limit $5`

/** $1 seqs of payloads. Every event that uses them is locked. A holder of these locks waits for no lock of prune. */
const lockSharing = statement('prune_lock_sharing')`
select seq from hookonce.events where seq in (
  select seq from hookonce.events where seq = any($1::bigint[])
  union all select seq from hookonce.events where payload_seq = any($1::bigint[]))
order by seq for update`

const lockEvents = statement(
  'prune_lock_events',
)`select seq from hookonce.events where seq = any($1::bigint[]) order by seq for update`

const dropPayloads = statement('prune_payloads')`
with old as materialized (
  select distinct i.seq, e.received_at from unnest($1::bigint[]) as i (seq)
  cross join lateral (
    select received_at from hookonce.events where seq = i.seq
    union all select received_at from hookonce.events where payload_seq = i.seq
  ) e
  where not exists (${unfinished('o.seq = i.seq')}) and not exists (${unfinished('o.payload_seq = i.seq')})
),
gone as (
  delete from hookonce.payloads p using old o where p.seq = o.seq and p.received_at = o.received_at returning 1
)
select count(*)::int as count from gone`

const dropEvents = statement('prune_events')`
with gone as (
  delete from hookonce.events e where e.seq = any($1::bigint[])
    and e.parked is distinct from 'dead' and not exists (select 1 from hookonce.work w where w.seq = e.seq)
  returning seq, payload_seq, source, received_at, event_id, guard_hash, parked
),
attempts as (delete from hookonce.attempts a using gone g where a.seq = g.seq),
effects as (delete from hookonce.effects f using gone g where f.seq = g.seq),
duplicates as (delete from hookonce.duplicates d using gone g where d.seq = g.seq),
conflicts as (delete from hookonce.conflicts c using gone g where c.seq = g.seq),
referred as (delete from hookonce.event_references r using gone g where r.seq = g.seq),
guards as (
  delete from hookonce.guards u using gone g
  where u.source = g.source and u.guard_hash = g.guard_hash and u.event_id = g.event_id
),
payloads as (
  delete from hookonce.payloads p using gone g
  where p.seq = coalesce(g.payload_seq, g.seq) and p.received_at = g.received_at
    and not exists (
      select 1 from hookonce.events o where o.payload_seq = p.seq and o.seq not in (select seq from gone))
    and not exists (
      select 1 from hookonce.events o where o.seq = g.payload_seq and o.payload_seq is null and o.seq not in (select seq from gone))
),
counted as (${countHours('gone', { recorded: '-count(*)', ignored: `-${countParked('ignored')}` })}
)
select count(*)::int as count, coalesce(max(seq), 0) as highest from gone`

/** $1 source   $2 before, ms   $3 limit */
const clearConflicts = statement('prune_conflicts')`
with gone as (
  update hookonce.conflicts set headers = null, body = null where (seq, hash) in (
    select seq, hash from hookonce.conflicts
    where source = $1 and at < to_timestamp($2::float8 / 1000) and body is not null
    order by at limit $3 for update skip locked)
  returning 1
)
select count(*)::int as count from gone`

/** $1 source   $2 before, ms. Only hours that have no events left. */
const dropHours = statement('prune_hours')`
delete from hookonce.hours h where h.source = $1 and h.hour < to_timestamp($2::float8 / 1000)
  and (select sum(o.recorded) from hookonce.hours o where o.source = h.source and o.hour = h.hour) = 0
  and (select sum(o.dead) from hookonce.hours o where o.source = h.source and o.hour = h.hour) = 0`

/** $1 source   $2 before, ms. Receipts go with the events they are about. */
const dropReceipts = statement(
  'prune_receipts',
)`delete from hookonce.archived where source = $1 and day < (to_timestamp($2::float8 / 1000) at time zone 'utc')::date`

/** $1 seqs   $2 attempts. The event keeps the number of attempts and the end of the last one. */
const dropAttempts = statement('prune_attempts')`
with gone as (
  delete from hookonce.attempts a using unnest($1::bigint[], $2::int[]) as i (seq, attempt)
  where a.seq = i.seq and a.attempt = i.attempt and not exists (${unfinished('o.seq = a.seq')})
  returning a.seq, a.attempt, a.finished_at
),
last as (select distinct on (seq) seq, attempt, finished_at from gone order by seq, attempt desc),
noted as (
  update hookonce.events e set attempts = greatest(e.attempts, l.attempt),
    processed_at = coalesce(e.processed_at, case when not exists (
      select 1 from hookonce.attempts a where a.seq = l.seq and a.attempt > l.attempt) then l.finished_at end)
  from last l where e.seq = l.seq
)
select count(*)::int as count from gone`

/** $1 source   $2 before, ms   $3 limit. Two ranges: with one condition the plan was a scan of all audits. */
const findAudits = statement('prune_find_audits')`
select id from (
  (select id from hookonce.audit where source = $1 and at < to_timestamp($2::float8 / 1000) order by at limit $3)
  union all
  (select id from hookonce.audit where source is null and at < to_timestamp($2::float8 / 1000) order by at limit $3)
) a limit $3`

const dropAudits = statement('prune_audits')`delete from hookonce.audit where id = any($1::bigint[])`

const dropKeys = statement('prune_keys')`
with gone as (
  delete from hookonce.keys where key in (
    select key from hookonce.keys where expires_at <= hookonce.clock() order by expires_at limit $1 for update skip locked)
  returning 1
)
select count(*)::int as count from gone`

/** $1 source   $2 the highest seq removed. `tail` finds by it that it has missed events. */
const notePruned = statement('pruned_note')`
insert into hookonce.pruned as p (source, seq) values ($1, $2)
on conflict (source) do update set seq = excluded.seq where p.seq < excluded.seq`
