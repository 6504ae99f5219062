/**
 * record: one statement for a whole batch. The unique constraint decides who is first; the join with what is already
 * there only saves the write. An answer goes out after the commit, so every verdict is about committed rows.
 */
import { randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { NewDelivery, RecordVerdict, State } from '../../model.js'
import { refusal } from '../../store.js'
import type { DuplicateAudit } from '../shared/duplicate-audit.js'
import { type BatchEvent, foldBatch, sameContent } from '../shared/fold.js'
import type { Database, Statement } from './database.js'
import { asHookonceError, describe, isPartitionMissing, isRowFailure } from './failure.js'
import { joined, numbers, texts } from './parameters.js'
import { stateOf } from './state.js'

/*
 * $1-$4 source, event id, type, reference   $5 part   $6 delivery (from 1)   $7 reserved payload seq or null
 * $8 content hashes, joined   $9 has content hash   $10 guard hashes, joined   $11 has guard hash
 * per delivery: $12 received at (ms or null)   $13 headers   $14 reject replayed content   $15 body offset (from 1)
 * $16 body length   $17 bodies, joined   $18 batch   $19 lanes (per event)   $20 slot
 *
 * Bytes travel as one binary value and are cut here: an array of bytea would travel as hexadecimal text.
 * The look-up is lateral with a limit so that it can only be done through the index, row by row: a plan made while
 * the table was small must not become a scan of it when it has grown.
 * Rows are inserted in key order so that two batches with the same keys wait for each other instead of dead-locking.
 */
const insert: Statement = {
  name: 'record',
  sql: `
with input as materialized (
  select n, source, event_id, event_type, reference, lane, part, d, payload_seq,
    case when hashed then substring($8::bytea from (32 * (n - 1) + 1)::int for 32) end as content_hash,
    case when guarded then substring($10::bytea from (32 * (n - 1) + 1)::int for 32) end as guard_hash
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::bigint[], $9::bool[], $11::bool[],
    $19::text[])
    with ordinality as i (source, event_id, event_type, reference, part, d, payload_seq, hashed, guarded, lane, n)
),
delivery as materialized (
  select d, coalesce(to_timestamp(received_ms / 1000.0), hookonce.clock()) as received_at, headers, reject, at, length
  from unnest($12::float8[], $13::text[], $14::bool[], $15::int[], $16::int[])
    with ordinality as i (received_ms, headers, reject, at, length, d)
),
known as materialized (
  select i.n, e.seq, e.content_hash, e.batch = $18::bigint as ours, e.parked, w.seq is null as final, ${stateOf} as state
  from input i
  cross join lateral (
    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1
  ) e
  left join hookonce.work w on w.seq = e.seq
),
fresh as materialized (
  select i.*, d.received_at, d.reject from input i join delivery d on d.d = i.d
  where i.n not in (select n from known)
),
guarding as (
  insert into hookonce.guards (source, guard_hash, event_id)
  select source, guard_hash, event_id from fresh where guard_hash is not null order by source, guard_hash, n
  on conflict do nothing
  returning source, guard_hash, event_id
),
judged as materialized (
  select f.*, f.guard_hash is not null and g.event_id is null as replayed
  from fresh f
  left join guarding g on g.source = f.source and g.guard_hash = f.guard_hash and g.event_id = f.event_id
),
added as (
  insert into hookonce.events (payload_seq, batch, received_at, part, source, event_id, event_type, related_reference,
    content_hash, guard_hash, lane, parked, reason, processed_at)
  select payload_seq, $18::bigint, received_at, part, source, event_id, event_type, reference, content_hash, guard_hash, lane,
    case when replayed then 'ignored' end, case when replayed then 'replayed_content' end, case when replayed then hookonce.clock() end
  from judged where not (replayed and reject)
  order by source, event_id
  on conflict (source, event_id) do nothing
  returning seq, source, event_id, received_at, parked
),
placed as materialized (
  select i.n, i.d, i.part, a.seq, i.payload_seq, a.source, a.received_at, a.parked, i.content_hash, i.lane
  from added a join input i on i.source = a.source and i.event_id = a.event_id
),
kept as (
  insert into hookonce.payloads (seq, received_at, source, headers, body)
  select distinct on (p.d) coalesce(p.payload_seq, p.seq), p.received_at, p.source, d.headers,
    substring($17::bytea from d.at for d.length)
  from placed p join delivery d on d.d = p.d
  order by p.d
),
queued as (
  insert into hookonce.work (seq, source, next_at, lane)
  select seq, source, hookonce.clock(), lane from placed where parked is null order by seq
),
counted as (
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), $20::int, count(*), count(parked), 0, min(seq), max(seq)
  from placed group by 1, 2 order by 1, 2
  on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    ignored = h.ignored + excluded.ignored, first_seq = least(h.first_seq, excluded.first_seq),
    last_seq = greatest(h.last_seq, excluded.last_seq)
)
select n::int, seq, case when ours then parked else state end as state, final, ours, content_hash, hookonce.clock() as at from known
union all
select n::int, seq, parked, false, true, content_hash, hookonce.clock() from placed`,
}

const reserve: Statement = {
  name: 'reserve',
  sql: `select nextval('hookonce.event_seq') as seq from generate_series(1, $1::int)`,
}

/** $1 sources, $2 event ids: those that were neither found nor inserted, after whoever was first has committed. */
const lookup: Statement = {
  name: 'lookup',
  sql: `
select i.n::int, e.seq, e.content_hash, w.seq is null as final, ${stateOf} as state, false as ours,
  hookonce.clock() as at
from unnest($1::text[], $2::text[]) with ordinality as i (source, event_id, n)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id
left join hookonce.work w on w.seq = e.seq`,
}

const ensurePartition: Statement = {
  name: 'ensure_partition',
  sql: `select hookonce.ensure_partitions(coalesce(to_timestamp($1::float8 / 1000.0), now()), 1)`,
}

interface Found {
  n: number
  seq: number
  /** The state of a known event; for a row of this batch: 'ignored' when it is parked, else null. */
  state: State | null
  final: boolean
  ours: boolean
  content_hash: Uint8Array | null
  at: number
}

/** What the log says about an event: the verdict, the content hash it holds, and when that was. */
interface Recorded {
  verdict: RecordVerdict
  hash: Uint8Array | null
  at: number
}

type Item = BatchEvent & { readonly from: NewDelivery }

export function recorder(db: Database, audit: DuplicateAudit) {
  const slots = slotKeeper()

  async function record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const verdicts = deliveries.map((delivery) => refusal(delivery) ?? [])
    const { firsts, repeats } = foldBatch(deliveries, (d) => verdicts[d]!.length > 0)
    const recorded = await insertAll(firsts.map((first) => ({ ...first, from: deliveries[first.delivery]! })))
    const answer = ({ delivery, part, event }: BatchEvent, { verdict, hash, at }: Recorded): void => {
      verdicts[delivery]![part] = verdict
      if (verdict.status === 'duplicate')
        audit.note(verdict.seq, at, verdict.equal ? null : (event.contentHash ?? hash))
    }
    firsts.forEach((first, i) => {
      answer(first, recorded[i]!)
    })
    const unanswered: BatchEvent[] = []
    for (const repeat of repeats) {
      const first = recorded[repeat.first]!
      if (first.verdict.status === 'recorded' || first.verdict.status === 'duplicate')
        answer(repeat, repeated(first, repeat))
      else unanswered.push(repeat)
    }
    if (unanswered.length > 0) {
      // The first was left out, so it says nothing about its repeats: they stand on their own.
      const places = [...new Set(unanswered.map((repeat) => repeat.delivery))]
      const again = await record(places.map((d) => deliveries[d]!))
      for (const { delivery, part } of unanswered)
        verdicts[delivery]![part] = again[places.indexOf(delivery)]![part]!
    }
    return verdicts
  }

  /** A batch that fails because of one row is cut in two until that row stands alone. */
  async function insertAll(items: readonly Item[]): Promise<Recorded[]> {
    if (items.length === 0) return []
    try {
      return await insertBatch(items)
    } catch (error) {
      if (!isRowFailure(error)) throw asHookonceError(error)
      const half = middleDelivery(items)
      if (half === 0) return items.map((item) => refused(item, describe(error)))
      return [...(await insertAll(items.slice(0, half))), ...(await insertAll(items.slice(half)))]
    }
  }

  async function insertBatch(items: readonly Item[]): Promise<Recorded[]> {
    const values = parameters(items, await reservePayloads(items))
    for (let tries = 1; ; tries++) {
      const slot = slots.take()
      try {
        return await verdictsOf(items, await db.resend<Found>(insert, [...values, slot]))
      } catch (error) {
        if (!isPartitionMissing(error) || tries === 3) throw error
        for (const at of new Set(items.map((item) => item.from.receivedAt ?? null)))
          await db.query(ensurePartition, [at])
      } finally {
        slots.giveBack(slot)
      }
    }
  }

  /** Events that share a payload need its number before they have their own. */
  async function reservePayloads(items: readonly Item[]): Promise<Map<NewDelivery, number>> {
    const shared = [...new Set(items.map((item) => item.from))].filter(
      (delivery) => delivery.events.length > 1,
    )
    if (shared.length === 0) return new Map()
    const reserved = await db.query<{ seq: number }>(reserve, [shared.length])
    return new Map(shared.map((delivery, i) => [delivery, reserved[i]!.seq]))
  }

  /** A row that was neither found nor inserted lost a race against a commit the statement could not see. */
  async function verdictsOf(items: readonly Item[], found: readonly Found[]): Promise<Recorded[]> {
    const recorded: (Recorded | undefined)[] = items.map(() => undefined)
    for (const row of found) recorded[row.n - 1] = asRecorded(row, items[row.n - 1]!)
    const missing = items.flatMap((_, i) => (recorded[i] ? [] : [i]))
    if (missing.length === 0) return recorded as Recorded[]
    const winners = await db.query<Found>(lookup, [
      texts(missing.map((i) => items[i]!.source)),
      texts(missing.map((i) => items[i]!.event.eventId)),
    ])
    for (const row of winners) {
      const i = missing[row.n - 1]!
      recorded[i] = asRecorded(row, items[i]!)
    }
    const removed: number[] = []
    for (const i of missing) {
      if (recorded[i]) continue
      const { event, from } = items[i]!
      const guarded = event.guardHash !== null && from.onReplayedContent === 'reject'
      if (guarded) recorded[i] = { verdict: { status: 'replayed' }, hash: null, at: 0 }
      else removed.push(i)
    }
    // The winner was removed in between by retention: what is left is new.
    const again = await insertAll(removed.map((i) => items[i]!))
    removed.forEach((i, k) => {
      recorded[i] = again[k]!
    })
    return recorded as Recorded[]
  }

  return record
}

function parameters(items: readonly Item[], payloadSeq: Map<NewDelivery, number>): unknown[] {
  const deliveries = [...new Set(items.map((item) => item.from))]
  const place = new Map(deliveries.map((delivery, i) => [delivery, i + 1]))
  const events = items.map((item) => item.event)
  let at = 1
  const starts = deliveries.map(({ body }) => {
    const start = at
    at += body.byteLength
    return start
  })
  return [
    texts(items.map((item) => item.source)),
    texts(events.map((event) => event.eventId)),
    texts(events.map((event) => event.eventType)),
    texts(events.map((event) => event.reference)),
    numbers(items.map((item) => item.part)),
    numbers(items.map((item) => place.get(item.from)!)),
    numbers(items.map((item) => payloadSeq.get(item.from) ?? null)),
    joined(events.map((event) => event.contentHash ?? NO_HASH)),
    numbers(events.map((event) => event.contentHash !== null)),
    joined(events.map((event) => event.guardHash ?? NO_HASH)),
    numbers(events.map((event) => event.guardHash !== null)),
    numbers(deliveries.map((delivery) => delivery.receivedAt ?? null)),
    texts(deliveries.map((delivery) => JSON.stringify(delivery.headers))),
    numbers(deliveries.map((delivery) => delivery.onReplayedContent === 'reject')),
    numbers(starts),
    numbers(deliveries.map((delivery) => delivery.body.byteLength)),
    joined(deliveries.map((delivery) => delivery.body)),
    randomBytes(8).readBigInt64LE().toString(),
    texts(events.map((event) => event.lane ?? null)),
  ]
}

function asRecorded(row: Found, { event }: Item): Recorded {
  const { seq, content_hash: hash, at } = row
  if (row.ours) {
    const state = row.state === 'ignored' ? 'ignored' : 'pending'
    return { hash, at, verdict: { status: 'recorded', seq, state } }
  }
  const equal = sameContent(hash, event.contentHash)
  return { hash, at, verdict: { status: 'duplicate', seq, state: row.state!, final: row.final, equal } }
}

function repeated({ verdict, hash, at }: Recorded, { event }: BatchEvent): Recorded {
  if (verdict.status !== 'recorded' && verdict.status !== 'duplicate') return { verdict, hash, at }
  const { seq, state } = verdict
  const final = verdict.status === 'duplicate' ? verdict.final : state === 'ignored'
  return {
    hash,
    at,
    verdict: { status: 'duplicate', seq, state, final, equal: sameContent(hash, event.contentHash) },
  }
}

function refused({ event, source }: Item, problem: string): Recorded {
  const error = new HookonceError('EVENT_REFUSED', { eventId: event.eventId, source, problem })
  return { hash: null, at: 0, verdict: { status: 'refused', code: error.code, detail: error.message } }
}

/** Where to cut a batch in two without cutting a delivery; 0 when it holds only one. */
function middleDelivery(items: readonly Item[]): number {
  const starts = items.flatMap((item, i) => (i > 0 && item.delivery !== items[i - 1]!.delivery ? [i] : []))
  return starts[Math.floor(starts.length / 2)] ?? 0
}

const NO_HASH = new Uint8Array(32)

/**
 * Concurrent batches must not wait for one counter row: each under way has a slot, and each process starts at a random
 * one. Two processes in one slot wait for each other's commit and stay right.
 */
function slotKeeper() {
  const base = (randomBytes(1)[0]! % 32) * 8
  const free = [7, 6, 5, 4, 3, 2, 1, 0]
  return {
    take: () => base + (free.pop() ?? 0),
    giveBack: (slot: number) => {
      if (!free.includes(slot - base)) free.push(slot - base)
    },
  }
}
