/**
 * Removes the payload of every delivery that has an event with the reference. The events stay, with `erased_at` set. A
 * delivery is left while one of its events is being processed, or an event of another reference is unfinished: that event
 * could never be handled. Rows are locked in the order of every other writer: work, then events, by seq.
 */
import type { EraseOptions, EraseResult } from '../../store.js'
import { writeAudits } from './audit.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, statement } from './connection/statement.js'
import { alive } from './work.js'

const needed = (payloadSeq: string, reference: string) => `
    select 1 from (
      select seq, related_reference, parked from hookonce.events where seq = ${payloadSeq}
      union all select seq, related_reference, parked from hookonce.events where payload_seq = ${payloadSeq}
    ) o left join hookonce.work w on w.seq = o.seq
    where (w.token is not null and ${alive})
      or (o.related_reference is distinct from ${reference} and (w.seq is not null or o.parked = 'dead'))`

/** $1 reference   $2 source or null   $3 limit. Deliveries that have to stay come last. */
const find = statement('erase_find')`
select d.seq, exists (${needed('d.seq', '$1')}) as busy from (
  select distinct coalesce(e.payload_seq, e.seq) as seq from hookonce.events e
  where e.related_reference = $1 and ($2::text is null or e.source = $2) and e.erased_at is null
) d
order by 2, 1 limit $3`

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

/** $2 reference. A worker may have claimed an event before the locks, or an operator restarted it. */
const stillFree = statement(
  'erase_free',
)`select i.seq from unnest($1::bigint[]) as i (seq) where not exists (${needed('i.seq', '$2')})`

const count = statement('erase_count')`
with marked as materialized (
  select seq, payload_seq, received_at, erased_at from hookonce.events where seq in ${sharing}
)
select (select count(*)::int from marked where erased_at is null) as events,
  (select count(distinct p.seq)::int from marked m
   join hookonce.payloads p on p.seq = coalesce(m.payload_seq, m.seq) and p.received_at = m.received_at) as payloads`

const remove = statement('erase')`
with marked as (
  update hookonce.events set erased_at = hookonce.clock() where seq in ${sharing} and erased_at is null
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
)
select m.source, m.event_id, (select count(*)::int from gone) as payloads from marked m`

interface Erased {
  source: string | null
  event_id: string | null
  payloads: number
}

export function erase(db: Database, options: EraseOptions): Promise<EraseResult> {
  const { reference, source = null, limit, dryRun } = options
  return db.atomic(async (run) => {
    // Twice the limit: deliveries that can be erased, and as many busy ones, to count them.
    const found = await run<{ seq: number; busy: boolean }>(find, [reference, source, 2 * limit + 1])
    const free = found.filter((row) => !row.busy).map((row) => row.seq)
    const busy = Math.min(limit, found.length - free.length)
    const taken = free.slice(0, limit)
    const more = free.length > limit
    if (dryRun) {
      const [counted] = await run<{ events: number; payloads: number }>(count, [numbers(taken)])
      return { ...counted!, busy, more }
    }
    await run(lockWork, [numbers(taken)])
    await run(lockEvents, [numbers(taken)])
    const rows = await run<{ seq: number }>(stillFree, [numbers(taken), reference])
    const erased = await run<Erased>(remove, [numbers(rows.map((row) => row.seq))])
    await writeAudit(run, options, erased)
    return {
      payloads: erased[0]?.payloads ?? 0,
      events: erased.length,
      busy: busy + taken.length - rows.length,
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
