/**
 * Deliveries under the id of a known event. Equal ones are duplicates: counted a little later, many events at once. A
 * conflict has other content: the first stays, and the other is kept beside it until payloads of its age are removed. It is
 * open until an operator runs the other content, and the two change places, or decides for the first.
 */
import { HookonceError } from '../../errors.js'
import { type EventKey, ownReference, type RecordVerdict } from '../../model.js'
import type { Conflict, OpenConflicts } from '../../store.js'
import { DuplicateAudit } from '../shared/duplicate-audit.js'
import { JUST_REMOVED, takeOverAudit, takesOver } from '../shared/judge.js'
import { contentReferencesOf, ownLabelOf } from '../shared/references.js'
import { writeAudits } from './audit.js'
import type { Database } from './connection/database.js'
import type { PartitionUnit } from './connection/pools.js'
import { numbers, type Run, statement, texts } from './connection/statement.js'
import { restart } from './operate.js'
import { ensurePartitions } from './partitions.js'
import { type HeadersAsText, withHeaders } from './read.js'
import type { BatchEvent } from './record-batch.js'
import { type FoundRow, lookup } from './record-sql.js'
import { insertReferences } from './references.js'
import { shownFirst } from './work.js'

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
 * and a delivery before this one, or an operator, may have made this content that of the event: then it is not written. The
 * lock gives contents that come at once one order, and makes a decision of an operator wait. `decided_at` stays: known
 * content does not open the conflict again.
 */
const keep = statement('conflict_keep')`
with event as (
  select e.seq, to_timestamp($4::float8 / 1000) as at, e.content_hash is distinct from $2::bytea as differs,
    e.erased_at is null as keeps, e.withheld is true as withheld, e.received_at
  from hookonce.events e where e.seq = $1 for no key update
),
kept as (
  insert into hookonce.conflicts (seq, hash, source, first_at, at, part, headers, body)
  select seq, $2, $3, at, at, $5, case when keeps then $6 end, case when keeps then $7::bytea end from event where differs
  on conflict (seq, hash) do update set number = excluded.number, at = excluded.at, part = excluded.part,
    headers = excluded.headers, body = excluded.body
),
counted as (
  insert into hookonce.duplicates as d (seq, count, first_at, last_at, conflicts)
  select seq, 1, at, at, 1 from event where differs
  on conflict (seq) do update set count = d.count + 1, first_at = least(d.first_at, excluded.first_at),
    last_at = greatest(d.last_at, excluded.last_at), conflicts = d.conflicts + 1
)
select differs, keeps, keeps and withheld as "givesWay", received_at as "receivedAt" from event`

/** $1 source   $2 guard hash   $3 event id. Reads or writes which event has the signed content. */
const guard = statement('conflict_guard')`
insert into hookonce.guards as g (source, guard_hash, event_id) values ($1, $2, $3)
on conflict (source, guard_hash) do update set event_id = g.event_id
returning g.event_id`

/** $1 seq   $2 type   $3 reference   $4 its label   $5 lane   $6 guard hash   $7 the event with the same signed content */
const describeAs = statement('conflict_describe')`
update hookonce.events set event_type = $2, related_reference = $3, reference_label = $4, lane = $5, guard_hash = $6, same_as = $7
where seq = $1`

/** $1 seq   $2 references (JSON). The event holds both contents, and is found by the references of both. */
const noteReferences = statement('conflict_references')`${insertReferences(`
  select e.seq, r.rows from hookonce.events e cross join lateral (
    select json_agg(r.pair) as rows from json_array_elements($2::json) as r (pair)
    where r.pair->>1 is distinct from e.related_reference
      or r.pair->>0 not in ('${ownReference}', coalesce(e.reference_label, ''))
  ) r where e.seq = $1 and r.rows is not null`)}`

/** $1 seq   $2 the reference that replaces this one */
const keepReference = statement('conflict_reference')`
insert into hookonce.event_references (seq, label, value)
select seq, coalesce(reference_label, '${ownReference}'), related_reference from hookonce.events
where seq = $1 and related_reference is distinct from $2 and related_reference is not null
on conflict do nothing`

interface Held {
  readonly differs: boolean
  readonly keeps: boolean
  readonly givesWay: boolean
  readonly receivedAt: number
}

/** The verdict after it. Rejects when the content is not kept: its sender must send it again. */
export function keepOtherContent(db: Database, other: OtherContent): Promise<RecordVerdict> {
  const { event, seq, at } = other
  const { source, headers, body } = event.from
  const { id } = event.event
  const hash = Buffer.from(event.event.contentHash!)
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return db.atomic(async (run) => {
    const values = [seq, hash, source, at, event.index, JSON.stringify(headers), bytes]
    const [held] = await run<Held>(keep, values)
    if (!held) throw new HookonceError('STORE_FAILED', { problem: JUST_REMOVED })
    const rows = contentReferencesOf(event.event)
    if (rows !== null && held.keeps && held.differs) await run(noteReferences, [seq, rows])
    if (held.givesWay && held.differs) await takeOver(run, db.partitions, other, held)
    const [found] = await run<FoundRow>(lookup, [texts([source]), texts([id]), 0, texts([null])])
    const { state, final } = found!
    return { status: 'duplicate', seq, state, final, equal: !held.differs }
  })
}

/** The event is locked, and has no row in `work`: nobody else can insert one. */
async function takeOver(
  run: Run,
  unit: PartitionUnit,
  { event: { event, from }, seq }: OtherContent,
  { receivedAt }: Held,
): Promise<void> {
  const { source } = from
  const { id, type, reference, lane = null } = event
  const guardHash = event.guardHash && Buffer.from(event.guardHash)
  const [holder] = guardHash ? await run<{ event_id: string }>(guard, [source, guardHash, id]) : []
  const sameAs = holder && holder.event_id !== id ? holder.event_id : null
  if (!takesOver(from, sameAs)) return
  await swapContent(run, unit, [{ seq, receivedAt, hash: Buffer.from(event.contentHash!).toString('hex') }])
  await run(keepReference, [seq, reference])
  await run(describeAs, [seq, type, reference, ownLabelOf(event), lane, guardHash, sameAs])
  await run(restart, [numbers([seq]), 0])
  await writeAudits(run, [takeOverAudit({ source, id })])
}

const shown = statement('conflict')`
select c.at, encode(c.hash, 'hex') as hash, c.part, c.headers, c.body, encode(e.content_hash, 'hex') as "contentHash", e.received_at as "receivedAt"
from hookonce.events e join hookonce.conflicts c on c.seq = e.seq
where e.source = $1 and e.event_id = $2 and c.hash = coalesce(decode($3::text, 'hex'), c.hash)
order by ${shownFirst} limit 1`

export async function conflictOf(
  db: Database,
  { source, id }: EventKey,
  hash: string | null = null,
): Promise<Conflict | null> {
  const [row] = await db.read<HeadersAsText<Conflict & { body: Uint8Array | null }>>(shown, [
    source,
    id,
    hash,
  ])
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

/** $1 seqs   $2 hash, or null for all that are open */
const decide = statement('conflict_decide')`
update hookonce.conflicts set decided_at = hookonce.clock()
where seq = any($1::bigint[]) and decided_at is null and hash = coalesce($2::bytea, hash)`

/** A person has decided for the present content: against the one with this hash, or against all that are open. */
export async function decideConflicts(run: Run, seqs: readonly number[], hash: Buffer | null): Promise<void> {
  await run(decide, [numbers(seqs), hash])
}

/**
 * $1 seqs   $2 hashes (hexadecimal). The other content with this hash becomes the payload of the event, and its payload
 * becomes the other content. Rows are looked up with a limit, so that the planner can only use their keys: a plan that was made on
 * an empty log read all events.
 */
const swap = statement('conflict_swap')`
with taken as materialized (
  select c.*, e.received_at, e.content_hash, e.part as old_part, coalesce(e.payload_seq, e.seq) as old_payload,
    nextval('hookonce.event_seq') as new_payload
  from unnest($1::bigint[], $2::text[]) as i (seq, hash)
  cross join lateral (
    select * from hookonce.conflicts c where c.seq = i.seq and c.hash = decode(i.hash, 'hex') limit 1
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
  events: readonly { readonly seq: number; readonly receivedAt: number; readonly hash: string }[],
): Promise<void> {
  for (const at of new Set(events.map(({ receivedAt }) => receivedAt)))
    await run(ensurePartitions, [at, 0, unit])
  await run(swap, [numbers(events.map(({ seq }) => seq)), texts(events.map(({ hash }) => hash))])
}
