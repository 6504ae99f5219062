import type { EventKey, EventRecord, TailOptions, TailPage } from '../../model.js'
import type { Attempt, Payload } from '../../store.js'
import { asRecord, type EventRow } from '../shared/event-record.js'
import type { Database } from './connection/database.js'
import { numbers, statement } from './connection/statement.js'
import { referenceRows } from './references.js'
import { shownFirst, stateOf } from './work.js'

/** For `events e left join work w`. */
export const reasonOf = `case when w.seq is null then e.reason
    else (select a.detail from hookonce.attempts a where a.seq = e.seq and a.outcome = 'failed' order by a.attempt desc limit 1) end`

const record = `
select e.seq, e.source, e.event_id as id, e.event_type as type, e.related_reference as reference, e.reference_label,
  ${referenceRows} as other_references, ${stateOf} as state,
  ${reasonOf} as reason, e.received_at as "receivedAt",
  case when w.seq is null then coalesce(e.processed_at, a.finished_at) end as "processedAt",
  coalesce(w.attempt, a.attempt, e.attempts, 0) as attempts, e.run,
  case when w.token is null or w.next_at <= hookonce.clock() then w.next_at end as "nextAttemptAt",
  1 + coalesce(d.count, 0) as deliveries, coalesce(d.conflicts, 0) as conflicts,
  coalesce(d.last_at, e.received_at) as "lastDeliveryAt", c.at as conflict_at, encode(c.hash, 'hex') as conflict_hash, c.decided_at,
  encode(e.content_hash, 'hex') as "contentHash", e.same_as as "sameAs",
  coalesce(e.origin, 'delivery') as origin,
  case
    when exists (select 1 from hookonce.payloads p where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at)
      then 'kept'
    when e.erased_at is not null then 'erased' else 'removed' end as payload
from hookonce.events e
left join hookonce.work w on w.seq = e.seq
left join hookonce.duplicates d on d.seq = e.seq
left join lateral (
  select a.attempt, a.finished_at from hookonce.attempts a where a.seq = e.seq order by a.attempt desc limit 1
) a on true
left join lateral (
  select c.at, c.hash, c.decided_at from hookonce.conflicts c where d.conflicts > 0 and c.seq = e.seq
  order by ${shownFirst} limit 1
) c on true`

const getByKey = statement('get')`${record} where e.source = $1 and e.event_id = $2`

const getBySeqs = statement('get_many')`${record} where e.seq = any($1::bigint[]) order by e.seq desc`

const getPayload = statement('payload')`
select p.headers, p.body, e.part, encode(e.content_hash, 'hex') as "contentHash", p.received_at as "receivedAt"
from hookonce.events e
join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
where e.source = $1 and e.event_id = $2`

const getAttempts = statement('attempts')`
select a.attempt, a.run, a.worker, a.started_at as "startedAt", a.finished_at as "finishedAt", a.outcome, a.detail, a.place
from hookonce.events e join hookonce.attempts a on a.seq = e.seq
where e.source = $1 and e.event_id = $2
order by a.attempt`

export async function getEvent(db: Database, { source, id }: EventKey): Promise<EventRecord | null> {
  const [row] = await db.read<EventRow>(getByKey, [source, id])
  return row ? asRecord(row) : null
}

/** Newest first. */
export async function getEvents(db: Database, seqs: readonly number[]): Promise<EventRecord[]> {
  return (await db.read<EventRow>(getBySeqs, [numbers(seqs)])).map(asRecord)
}

export async function payloadOf(db: Database, { source, id }: EventKey): Promise<Payload | null> {
  const [row] = await db.read<HeadersAsText<Payload>>(getPayload, [source, id])
  return row ? withHeaders<Payload>(row) : null
}

export function attemptsOf(db: Database, { source, id }: EventKey): Promise<Attempt[]> {
  return db.read<Attempt>(getAttempts, [source, id])
}

export type HeadersAsText<T extends Pick<Payload, 'headers'>> = Omit<T, 'headers'> & { headers: string }

export function withHeaders<T extends Pick<Payload, 'headers'>>(row: HeadersAsText<T>): T {
  return { ...row, headers: JSON.parse(row.headers) } as unknown as T
}

/**
 * An event below the horizon that is missing now will never appear (docs/decisions/0002-tail.md). The order of the two
 * reads matters: a statement whose lock the second does not see takes seqs above the first.
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

const readHorizon = statement('tail_horizon')`select hookonce.horizon() as horizon`

/** $1 after   $2 horizon   $3 rows to look at   $4 source or null   $5 limit */
const tailPage = statement('tail_page')`
with looked as materialized (
  select seq, source from hookonce.events where seq > $1 and seq <= $2 order by seq limit $3
)
select array(select seq from looked where $4::text is null or source = $4 order by seq limit $5) as seqs,
  (select count(*) from looked)::int as looked_at, (select max(seq) from looked) as last`

/** $1 after   $2 source or null */
const tailMissed = statement('tail_missed')`
select exists (select 1 from hookonce.pruned where seq > $1 and ($2::text is null or source = $2)) as missed`

const SCAN_AT_MOST = 10_000

/** In seq order. Commits can overtake each other, so a page ends at the horizon. */
export async function tail(db: Database, { after, limit, source }: TailOptions): Promise<TailPage> {
  const [top] = await db.read<{ horizon: number }>(readHorizon, [])
  if (top!.horizon <= after) return { events: [], position: after, gap: false }
  // The new snapshot of this statement has all that had committed when the horizon was read.
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
    // Read last: events may be removed while the page is read.
    gap: after > 0 && (await db.read<{ missed: boolean }>(tailMissed, [after, source ?? null]))[0]!.missed,
  }
}
