/**
 * Removes the payload of every delivery that has an event with the reference, with errors of handlers and results of effects,
 * which may quote it. The events stay, with `erased_at` set. A
 * delivery is left while one of its events is being processed, or an event of another reference is unfinished: that event
 * could never be handled. Rows are locked in the order of every other writer: work, then events, by seq.
 */
import type { ArchivedIn, EraseOptions, EraseResult } from '../../store.js'
import { writeAudits } from './audit.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, statement } from './connection/statement.js'
import { hasReference } from './references.js'
import { alive } from './work.js'

const needed = (payloadSeq: string) => `
    select 1 from (
      select seq, related_reference, reference_label, parked from hookonce.events where seq = ${payloadSeq}
      union all select seq, related_reference, reference_label, parked from hookonce.events where payload_seq = ${payloadSeq}
    ) o left join hookonce.work w on w.seq = o.seq
    where (w.token is not null and ${alive})
      or (${hasReference('o', '$1', '$2')} is not true and (w.seq is not null or o.parked = 'dead'))`

/** $1 reference   $2 label or null   $3 source or null   $4 limit. Deliveries that have to stay come last. */
const find = statement('erase_find')`
select d.seq, exists (${needed('d.seq')}) as busy from (
  select coalesce(e.payload_seq, e.seq) as seq from hookonce.events e
  where e.related_reference = $1 and ($2::text is null or e.reference_label = $2)
    and ($3::text is null or e.source = $3) and e.erased_at is null
  union
  select coalesce(e.payload_seq, e.seq) from hookonce.event_references r
  cross join lateral (select * from hookonce.events e where e.seq = r.seq limit 1) e
  where r.value = $1 and ($2::text is null or r.label = $2)
    and ($3::text is null or e.source = $3) and e.erased_at is null
) d
order by 2, 1 limit $4`

/** $1 seqs of payloads */
const sharing = `(
  select seq from hookonce.events where seq = any($1::bigint[])
  union all select seq from hookonce.events where payload_seq = any($1::bigint[]))`

const lockWork = statement(
  'erase_lock_work',
)`select seq from hookonce.work where seq in ${sharing} order by seq for update`

const lockEvents = statement(
  'erase_lock_events',
)`select seq from hookonce.events where seq in ${sharing} order by seq for update`

/** $1 reference   $2 label or null   $3 seqs. A worker may have claimed an event before the locks, or an operator restarted it. */
const stillFree = statement(
  'erase_free',
)`select i.seq from unnest($3::bigint[]) as i (seq) where not exists (${needed('i.seq')})`

/** A conflict that was run has a payload of its own, and the first one may be archived under the seq of the event. */
const archivedIn = statement('erase_archived')`
select distinct a.source, a.day::text as day, a.object from unnest($1::bigint[]) as i (seq)
cross join lateral (
  select seq, payload_seq, source, received_at, erased_at from hookonce.events where seq = i.seq
  union all select seq, payload_seq, source, received_at, erased_at from hookonce.events where payload_seq = i.seq
) e
cross join lateral (
  select * from hookonce.archived a where a.source = e.source and a.day = (e.received_at at time zone 'utc')::date
    and (e.payload_seq = any(a.seqs) or e.seq = any(a.seqs)) offset 0
) a
where e.erased_at is null
order by 1, 2, 3`

const count = statement('erase_count')`
with marked as materialized (
  select seq, payload_seq, received_at, erased_at from hookonce.events where seq in ${sharing}
)
select (select count(*)::int from marked where erased_at is null) as events,
  (select count(*)::int from (select distinct coalesce(payload_seq, seq) as seq, received_at from marked) m
   cross join lateral (
     select 1 from hookonce.payloads p where p.seq = m.seq and p.received_at = m.received_at limit 1
   ) p) as payloads`

const remove = statement('erase')`
with marked as (
  update hookonce.events set erased_at = hookonce.clock(), reason = case when parked = 'ignored' then reason end
  where seq in ${sharing} and erased_at is null
  returning seq, payload_seq, received_at, source, event_id
),
gone as (
  delete from hookonce.payloads p using (
    select distinct coalesce(payload_seq, seq) as seq, received_at from marked
  ) m
  where p.seq = m.seq and p.received_at = m.received_at returning 1
),
compared as (
  update hookonce.conflicts c set headers = null, body = null from marked m where c.seq = m.seq
),
untold as (
  update hookonce.attempts a set detail = null from marked m where a.seq = m.seq and a.outcome = 'failed'
),
forgotten as (
  update hookonce.effects f set result = 'null' from marked m where f.seq = m.seq and f.result is not null
),
unlinked as (
  delete from hookonce.event_references r using marked m where r.seq = m.seq
)
select m.source, m.event_id, (select count(*)::int from gone) as payloads from marked m`

interface Erased {
  source: string | null
  event_id: string | null
  payloads: number
}

export function erase(db: Database, options: EraseOptions): Promise<EraseResult> {
  const { reference, label = null, source = null, limit, dryRun } = options
  return db.atomic(async (run) => {
    // Twice the limit: deliveries that can be erased, and as many busy ones, to count them.
    const most = 2 * limit + 1
    const found = await run<{ seq: number; busy: boolean }>(find, [reference, label, source, most])
    const free = found.filter((row) => !row.busy).map((row) => row.seq)
    const busy = Math.min(limit, found.length - free.length)
    const taken = free.slice(0, limit)
    const more = free.length > limit
    if (dryRun) {
      const [counted] = await run<{ events: number; payloads: number }>(count, [numbers(taken)])
      return { ...counted!, busy, archived: await run<ArchivedIn>(archivedIn, [numbers(taken)]), more }
    }
    await run(lockWork, [numbers(taken)])
    await run(lockEvents, [numbers(taken)])
    const rows = await run<{ seq: number }>(stillFree, [reference, label, numbers(taken)])
    const seqs = numbers(rows.map((row) => row.seq))
    const archived = await run<ArchivedIn>(archivedIn, [seqs])
    const erased = await run<Erased>(remove, [seqs])
    await writeAudit(run, options, erased)
    return {
      payloads: erased[0]?.payloads ?? 0,
      events: erased.length,
      busy: busy + taken.length - rows.length,
      archived,
      more,
    }
  })
}

async function writeAudit(run: Run, options: EraseOptions, erased: readonly Erased[]): Promise<void> {
  const { actor, note, reference, source = null } = options
  const entry = { actor, verb: 'erase' }
  const nothing = `nothing found for reference "${reference}": ${note}`
  await writeAudits(
    run,
    erased.length === 0
      ? [{ ...entry, source, eventId: null, note: nothing }]
      : erased.map((event) => ({ ...entry, source: event.source, eventId: event.event_id, note })),
  )
}
