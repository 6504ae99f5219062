/** get, payload, attempts and tail: reads that go straight to their rows. */
import type { EventKey, EventRecord, State, TailOptions, TailPage } from '../../model.js'
import type { Attempt, AttemptOutcome, Payload } from '../../store.js'
import type { Database } from './connection/database.js'
import { numbers, type Statement } from './connection/statement.js'
import { stateOf } from './work.js'

const record = `
select e.seq, e.source, e.event_id, e.event_type, e.related_reference, e.received_at, e.run,
  encode(e.content_hash, 'hex') as content_hash, ${stateOf} as state,
  coalesce(w.attempt, a.attempt, e.attempts, 0) as attempts,
  case when w.seq is null then coalesce(e.processed_at, a.finished_at) end as processed_at,
  case when w.token is null or w.next_at <= hookonce.clock() then w.next_at end as next_at,
  case when w.seq is null then e.reason
    else (select a.detail from hookonce.attempts a where a.seq = e.seq and a.outcome = 'failed' order by a.attempt desc limit 1) end as reason,
  coalesce(d.count, 0) as duplicates, coalesce(d.conflicts, 0) as conflicts, d.last_at, d.conflict_at,
  encode(d.conflict_hash, 'hex') as conflict_hash,
  exists (select 1 from hookonce.payloads p where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at)
    as payload_kept, e.erased_at is not null as erased, e.same_as
from hookonce.events e
left join hookonce.work w on w.seq = e.seq
left join hookonce.duplicates d on d.seq = e.seq
left join lateral (
  select a.attempt, a.finished_at from hookonce.attempts a where a.seq = e.seq order by a.attempt desc limit 1
) a on true`

const getByKey: Statement = { name: 'get', sql: `${record} where e.source = $1 and e.event_id = $2` }

const getBySeqs: Statement = {
  name: 'get_many',
  sql: `${record} where e.seq = any($1::bigint[]) order by e.seq desc`,
}

const getPayload: Statement = {
  name: 'payload',
  sql: `
select p.headers, p.body, e.part, encode(e.content_hash, 'hex') as content_hash, p.received_at
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.event_id = $2`,
}

const getAttempts: Statement = {
  name: 'attempts',
  sql: `
select a.attempt, a.run, a.worker, a.started_at, a.finished_at, a.outcome, a.detail
from hookonce.events e join hookonce.attempts a on a.seq = e.seq
where e.source = $1 and e.event_id = $2
order by a.attempt`,
}

interface Row {
  seq: number
  source: string
  event_id: string
  event_type: string
  related_reference: string | null
  received_at: number
  processed_at: number | null
  run: number
  content_hash: string | null
  state: State
  attempts: number
  next_at: number | null
  reason: string | null
  duplicates: number
  conflicts: number
  last_at: number | null
  conflict_at: number | null
  conflict_hash: string | null
  payload_kept: boolean
  erased: boolean
  same_as: string | null
}

export async function getEvent(db: Database, key: EventKey): Promise<EventRecord | null> {
  const [row] = await db.read<Row>(getByKey, [key.source, key.id])
  return row ? asRecord(row) : null
}

/** Reads events by seq, newest first. */
export async function getEvents(db: Database, seqs: readonly number[]): Promise<EventRecord[]> {
  return (await db.read<Row>(getBySeqs, [numbers(seqs)])).map(asRecord)
}

export async function payloadOf(db: Database, key: EventKey): Promise<Payload | null> {
  const [row] = await db.read<{
    headers: string
    body: Buffer
    part: number
    content_hash: string | null
    received_at: number
  }>(getPayload, [key.source, key.id])
  if (!row) return null
  return {
    headers: JSON.parse(row.headers) as Record<string, string>,
    body: row.body,
    part: row.part,
    contentHash: row.content_hash,
    receivedAt: row.received_at,
  }
}

export async function attemptsOf(db: Database, key: EventKey): Promise<Attempt[]> {
  const rows = await db.read<{
    attempt: number
    run: number
    worker: string
    started_at: number
    finished_at: number
    outcome: AttemptOutcome
    detail: string | null
  }>(getAttempts, [key.source, key.id])
  return rows.map(({ started_at, finished_at, ...rest }) => ({
    ...rest,
    startedAt: started_at,
    finishedAt: finished_at,
  }))
}

function asRecord(row: Row): EventRecord {
  return {
    seq: row.seq,
    source: row.source,
    id: row.event_id,
    type: row.event_type,
    reference: row.related_reference,
    state: row.state,
    reason: row.state === 'ignored' || row.state === 'failed' ? row.reason : null,
    receivedAt: row.received_at,
    processedAt: row.processed_at,
    attempts: row.attempts,
    run: row.run,
    nextAttemptAt: row.next_at,
    deliveries: 1 + row.duplicates,
    conflicts: row.conflicts,
    lastDeliveryAt: row.last_at ?? row.received_at,
    lastConflict:
      row.conflict_at === null || row.conflict_hash === null
        ? null
        : { at: row.conflict_at, hash: row.conflict_hash },
    contentHash: row.content_hash,
    sameAs: row.same_as,
    payload: row.payload_kept ? 'kept' : row.erased ? 'erased' : 'removed',
  }
}

/**
 * Up to here the log is complete: an event that is missing now will never appear. Each record statement, before it takes a
 * number, holds a lock that names the last number at that time (docs/decisions/0002-tail.md). The order of the two reads
 * matters: a statement that the second does not see takes numbers above the first.
 */
export const createHorizon = `
create or replace function hookonce.horizon() returns bigint language plpgsql volatile as $$
declare
  last bigint;
  lowest bigint;
begin
  select case when is_called then last_value else 0 end into last from hookonce.event_seq;
  select min(last - behind) into lowest from (
    select (last - objid::bigint) & 4294967295 as behind from pg_locks
    where locktype = 'advisory' and objsubid = 2 and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())
      and classid = 'hookonce.event_seq'::regclass::oid
  ) announced where behind < 2147483648;
  return coalesce(lowest, last);
end $$;
`

const readHorizon: Statement = { name: 'tail_horizon', sql: 'select hookonce.horizon() as horizon' }

/** $1 after   $2 horizon   $3 rows to look at   $4 source or null   $5 limit */
const tailPage: Statement = {
  name: 'tail_page',
  sql: `
with looked as materialized (
  select seq, source from hookonce.events where seq > $1 and seq <= $2 order by seq limit $3
)
select array(select seq from looked where $4::text is null or source = $4 order by seq limit $5) as seqs,
  (select count(*) from looked)::int as looked_at, (select max(seq) from looked) as last`,
}

/** $1 after   $2 source or null */
const tailMissed: Statement = {
  name: 'tail_missed',
  sql: `
select exists (select 1 from hookonce.pruned where seq > $1 and ($2::text is null or source = $2)) as missed`,
}

/** Events of other sources that one call skips at most. */
const SCAN_AT_MOST = 10_000

/**
 * In the order of seq. A seq is taken before its commit, and commits can overtake each other, so a page ends at
 * the horizon: no event below it can appear later (docs/decisions/0002-tail.md).
 */
export async function tail(db: Database, { after, limit, source }: TailOptions): Promise<TailPage> {
  const [top] = await db.read<{ horizon: number }>(readHorizon, [])
  if (top!.horizon <= after) return { events: [], position: after, gap: false }
  // A separate statement has a new snapshot, which includes all that had committed when the horizon was read.
  const scan = source === undefined ? limit : SCAN_AT_MOST
  const [row] = await db.read<{ seqs: string[]; looked_at: number; last: number | null }>(tailPage, [
    after,
    top!.horizon,
    scan,
    source ?? null,
    limit,
  ])
  const seqs = row!.seqs.map(Number)
  const events = (await getEvents(db, seqs)).reverse()
  return {
    events,
    position: seqs.length === limit ? seqs.at(-1)! : row!.looked_at === scan ? row!.last! : top!.horizon,
    // Read last, so that events removed while the page was read are noticed too.
    gap: after > 0 && (await db.read<{ missed: boolean }>(tailMissed, [after, source ?? null]))[0]!.missed,
  }
}
