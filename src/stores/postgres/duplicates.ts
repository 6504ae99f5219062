/**
 * Deliveries under the id of a known event. Equal ones are duplicates: counted a little later, many events at once. A
 * conflict has other content: the first stays, and the other is kept beside it until payloads of its age are removed. It is
 * open until an operator runs the other content, and the two change places, or decides for the first.
 */
import { HookonceError } from '../../errors.js'
import type { EventKey } from '../../model.js'
import type { Conflict, OpenConflicts } from '../../store.js'
import { DuplicateAudit } from '../shared/duplicate-audit.js'
import { JUST_REMOVED, takeOver } from '../shared/judge.js'
import type { Database } from './connection/database.js'
import type { PartitionUnit } from './connection/pools.js'
import { numbers, type Run, statement } from './connection/statement.js'
import { operate } from './operate.js'
import { ensurePartitions } from './partitions.js'
import { type HeadersAsText, withHeaders } from './read.js'
import type { BatchEvent } from './record-batch.js'
import { REPLAYED } from './record-sql.js'

/**
 * An event that retention has removed gets no row. The limit leaves the planner only the key: a plan that was made on an
 * empty log read all events.
 * $1 seqs   $2 counts   $3 first, ms   $4 last, ms
 */
const countBatch = statement('duplicates')`
insert into hookonce.duplicates as d (seq, count, first_at, last_at, conflicts)
select i.seq, i.count, to_timestamp(i.first_ms / 1000), to_timestamp(i.last_ms / 1000), 0
from unnest($1::bigint[], $2::bigint[], $3::float8[], $4::float8[]) as i (seq, count, first_ms, last_ms)
cross join lateral (select from hookonce.events e where e.seq = i.seq limit 1) e
order by i.seq
on conflict (seq) do update set
  count = d.count + excluded.count,
  first_at = least(d.first_at, excluded.first_at),
  last_at = greatest(d.last_at, excluded.last_at)`

export function duplicateCounts(db: Database): DuplicateAudit {
  return new DuplicateAudit(async (notes) => {
    await db.query(countBatch, [
      numbers(notes.map((note) => note.seq)),
      numbers(notes.map((note) => note.count)),
      numbers(notes.map((note) => note.firstAt)),
      numbers(notes.map((note) => note.lastAt)),
    ])
  })
}

export interface OtherContent {
  readonly event: BatchEvent
  /** The event that has the id. */
  readonly seq: number
  readonly at: number
}

/**
 * $1 seq   $2 hash   $3 source   $4 at, ms   $5 part   $6 headers   $7 body. The bytes of an erased event must not come back,
 * and a delivery before this one may have made this content that of the event. The lock gives contents that come at once one
 * order, and makes a decision of an operator wait. `decided_at` stays: known content does not open the conflict again.
 */
const keep = statement('conflict_keep')`
with event as (
  select e.seq, to_timestamp($4::float8 / 1000) as at, e.content_hash is distinct from $2::bytea as differs,
    e.erased_at is null as keeps, e.parked = 'ignored' and e.reason = '${REPLAYED}' as withheld
  from hookonce.events e where e.seq = $1 for no key update
),
kept as (
  insert into hookonce.conflicts (seq, hash, source, first_at, at, part, headers, body)
  select seq, $2, $3, at, at, $5, case when keeps then $6 end, case when keeps then $7::bytea end from event where differs
  on conflict (seq, hash) do update set number = excluded.number, at = excluded.at, part = excluded.part,
    headers = excluded.headers, body = excluded.body
),
counted as (
  insert into hookonce.duplicates as d (seq, count, first_at, last_at, conflicts, conflict_at, conflict_hash)
  select seq, 1, at, at, 1, at, $2 from event
  on conflict (seq) do update set count = d.count + 1, first_at = least(d.first_at, excluded.first_at),
    last_at = greatest(d.last_at, excluded.last_at), conflicts = d.conflicts + 1, conflict_at = excluded.conflict_at,
    conflict_hash = excluded.conflict_hash
)
select keeps and differs and withheld is true as replaces from event`

/** Rejects when it is not kept: its sender must send it again. */
export async function keepOtherContent(db: Database, { event, seq, at }: OtherContent): Promise<void> {
  const { source, headers, body } = event.from
  const { contentHash, id } = event.event
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const hash = Buffer.from(contentHash!)
  const values = [seq, hash, source, at, event.index, JSON.stringify(headers), bytes]
  const [kept] = await db.query<{ replaces: boolean }>(keep, values)
  if (!kept) throw new HookonceError('STORE_FAILED', { problem: JUST_REMOVED })
  // It was never handled, because it waits for a review.
  if (kept.replaces) await operate(db, takeOver({ source, id }))
}

const latest = statement('conflict')`
select c.at, c.part, c.headers, c.body, encode(e.content_hash, 'hex') as "contentHash", e.received_at as "receivedAt"
from hookonce.events e join hookonce.conflicts c on c.seq = e.seq
where e.source = $1 and e.event_id = $2 order by c.number desc limit 1`

export async function conflictOf(db: Database, { source, id }: EventKey): Promise<Conflict | null> {
  const [row] = await db.read<HeadersAsText<Conflict & { body: Uint8Array | null }>>(latest, [source, id])
  return row && row.body !== null ? withHeaders<Conflict>(row) : null
}

/** $1 the most rows of each source */
const open = statement('conflicts_open')`
select k.source, o.count, o."oldestAt", o.cut
from (select distinct source from hookonce.totals) k cross join lateral (
  select count(distinct c.seq)::int as count, min(c.first_at) as "oldestAt", count(*) = $1 as cut from (
    select seq, first_at from hookonce.conflicts
    where source = k.source and decided_at is null order by seq limit $1
  ) c
) o
where o.count > 0 order by k.source`

export function openConflictsOf(db: Database, limit: number): Promise<OpenConflicts[]> {
  return db.read<OpenConflicts>(open, [limit])
}

/** $1 seqs. All other content of these events that has come until now is decided about. */
const decide = statement('conflict_decide')`
update hookonce.conflicts set decided_at = hookonce.clock() where seq = any($1::bigint[]) and decided_at is null`

export async function decideConflicts(run: Run, seqs: readonly number[]): Promise<void> {
  await run(decide, [numbers(seqs)])
}

/**
 * $1 seqs. The latest other content of each becomes its payload, and its payload becomes the other content. The event is looked
 * up with a limit, so that the planner can only use its key: a plan that was made on an empty log read all events.
 */
const swap = statement('conflict_swap')`
with taken as materialized (
  select c.*, e.received_at, e.content_hash, e.part as old_part, coalesce(e.payload_seq, e.seq) as old_payload,
    nextval('hookonce.event_seq') as new_payload
  from (
    select distinct on (seq) * from hookonce.conflicts where seq = any($1::bigint[]) order by seq, number desc
  ) c cross join lateral (select * from hookonce.events e where e.seq = c.seq limit 1) e
),
stored as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select new_payload, received_at, source, headers, body from taken
),
pointed as (
  update hookonce.events e set payload_seq = t.new_payload, part = t.part, content_hash = t.hash
  from taken t where e.seq = t.seq
),
replaced as (
  delete from hookonce.conflicts c using taken t where c.seq = t.seq and c.hash = t.hash
),
beside as (
  insert into hookonce.conflicts (seq, hash, source, first_at, at, decided_at, part, headers, body)
  select t.seq, t.content_hash, t.source, hookonce.clock(), hookonce.clock(), hookonce.clock(), t.old_part, p.headers, p.body
  from taken t left join hookonce.payloads p on p.seq = t.old_payload and p.received_at = t.received_at
  where t.content_hash is not null
  on conflict (seq, hash) do nothing
)
delete from hookonce.payloads p using taken t
where p.seq = t.old_payload and p.received_at = t.received_at and not exists (
  select 1 from hookonce.events o
  where o.seq <> t.seq and (o.payload_seq = t.old_payload or o.seq = t.old_payload and o.payload_seq is null))`

export async function swapContent(
  run: Run,
  unit: PartitionUnit,
  events: readonly { readonly seq: number; readonly receivedAt: number }[],
): Promise<void> {
  for (const at of new Set(events.map(({ receivedAt }) => receivedAt)))
    await run(ensurePartitions, [at, 0, unit])
  await run(swap, [numbers(events.map(({ seq }) => seq))])
}
