/**
 * operate: retry, replay and ignore by an operator. Rows are locked in the order that every other writer uses (work, then
 * events, by seq), checked, and changed in one transaction with the audit. An event with a live lease is not changed.
 */
import { canMove, type EventKey, type Order, type OrderResult, type State } from '../../model.js'
import { swapContent } from './conflicts.js'
import type { Database } from './database.js'
import type { PartitionUnit } from './partitions.js'
import { numbers, type Run, type Statement, texts } from './statement.js'
import { parkedFor, stateOf } from './work.js'

/** $1 sources   $2 event ids */
const find: Statement = {
  name: 'operate_find',
  sql: `
select i.n::int, e.seq
from unnest($1::text[], $2::text[]) with ordinality as i (source, event_id, n)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id`,
}

const lockWork: Statement = {
  name: 'operate_lock_work',
  sql: 'select seq from hookonce.work where seq = any($1::bigint[]) order by seq for update',
}

/** Does not wait: other writers lock work before events, so waiting here, with the event locked, could deadlock. */
const lockNewWork: Statement = {
  name: 'operate_lock_new_work',
  sql: 'select seq from hookonce.work where seq = any($1::bigint[]) order by seq for update nowait',
}

const lockEvents: Statement = {
  name: 'operate_lock_events',
  sql: 'select seq from hookonce.events where seq = any($1::bigint[]) order by seq for update',
}

/** $1 seqs   $2 whether the other content of a conflict is wanted */
const read: Statement = {
  name: 'operate_read',
  sql: `
select e.seq, ${stateOf} as state, e.received_at, case when $2::bool
  then exists (select 1 from hookonce.conflicts c where c.seq = e.seq)
  else exists (select 1 from hookonce.payloads p where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at)
end as has_payload
from hookonce.events e left join hookonce.work w on w.seq = e.seq
where e.seq = any($1::bigint[])`,
}

/**
 * $1 seqs   $2 how much to add to the run. Earlier attempts no longer count against the retry policy. Of each lane the
 * first event is due and the others are parked; all of them are locked here or not yet visible to other transactions.
 */
const restart: Statement = {
  name: 'operate_restart',
  sql: `
with before as materialized (
  select e.seq, e.source, e.received_at, e.parked, e.lane, e.run + $2::int as run,
    coalesce((select max(a.attempt) from hookonce.attempts a where a.seq = e.seq), e.attempts, 0) as attempts
  from hookonce.events e where e.seq = any($1::bigint[])
),
reset as (
  update hookonce.events e set parked = null, reason = null, processed_at = null, run = b.run
  from before b where e.seq = b.seq
),
queued as (
  insert into hookonce.work as w (seq, source, next_at, attempt, base_attempt, run, lane)
  select seq, source, hookonce.clock() + case when lane is not null and row_number() over (partition by source, lane order by seq) > 1
    then ${parkedFor} else interval '0' end, attempts, attempts, run, lane from before
  on conflict (seq) do update set next_at = excluded.next_at, base_attempt = w.attempt, token = null, claimed_at = null, run = excluded.run
)
insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead)
select source, date_trunc('hour', received_at, 'UTC'), 0, 0,
  -count(*) filter (where parked = 'ignored'), -count(*) filter (where parked = 'dead')
from before where parked is not null group by 1, 2 order by 1, 2
on conflict (source, hour, slot) do update set ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead`,
}

/** $1 seqs. Writes the `lost` attempt of an expired lease, as the next claim would. */
const writeLost: Statement = {
  name: 'operate_lost',
  sql: `
insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
select seq, attempt, run, worker, claimed_at, next_at, 'lost' from hookonce.work
where seq = any($1::bigint[]) and token is not null`,
}

const park: Statement = {
  name: 'operate_ignore',
  sql: `
with gone as (
  delete from hookonce.work where seq = any($1::bigint[])
),
before as materialized (
  select seq, source, received_at, parked from hookonce.events where seq = any($1::bigint[])
),
parked as (
  update hookonce.events e
  set parked = 'ignored', reason = 'operator', processed_at = hookonce.clock()
  where e.seq = any($1::bigint[])
)
insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead)
select source, date_trunc('hour', received_at, 'UTC'), 0, 0, count(*), -count(*) filter (where parked = 'dead')
from before group by 1, 2 order by 1, 2
on conflict (source, hour, slot) do update set ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead`,
}

/** $1 seqs that have left `work`. A separate statement, because it must see the deletes. */
const promote: Statement = {
  name: 'operate_promote',
  sql: `
select hookonce.promote_lanes(array_agg(seq), array_agg(source), array_agg(lane)) from hookonce.events
where seq = any($1::bigint[]) and lane is not null`,
}

/** $1 sources   $2 event ids   $3 actor   $4 verb   $5 reason */
const audit: Statement = {
  name: 'operate_audit',
  sql: `
insert into hookonce.audit (at, actor, verb, source, event_id, reason)
select hookonce.clock(), $3, $4, source, event_id, $5 from unnest($1::text[], $2::text[]) as i (source, event_id)`,
}

export function operate(db: Database, unit: PartitionUnit, order: Order): Promise<OrderResult[]> {
  return db.atomic(async (run) => {
    const seqs = await findSeqs(run, order.events)
    const found = await lockAndRead(run, [...new Set(seqs.filter((seq) => seq !== undefined))], order)
    const results = seqs.map((seq) => judge(order, seq === undefined ? undefined : found.get(seq)))
    if (order.dryRun) return results
    const done = order.events.flatMap((key, i) => {
      const event = results[i]!.done ? found.get(seqs[i]!)! : null
      return event ? [{ key, seq: seqs[i]!, receivedAt: event.receivedAt }] : []
    })
    if (done.length === 0) return results
    if (order.conflict) await swapContent(run, unit, done)
    await apply(run, order, done)
    return results
  })
}

async function findSeqs(run: Run, keys: readonly EventKey[]): Promise<(number | undefined)[]> {
  const seqs = new Array<number | undefined>(keys.length).fill(undefined)
  const values = [texts(keys.map((key) => key.source)), texts(keys.map((key) => key.eventId))]
  for (const { n, seq } of await run<{ n: number; seq: number }>(find, values)) seqs[n - 1] = seq
  return seqs
}

async function lockAndRead(
  run: Run,
  seqs: number[],
  { conflict = false }: Order,
): Promise<Map<number, Found>> {
  const values = [numbers(seqs)]
  await run(lockWork, values)
  await run(lockEvents, values)
  // Another order may have inserted a work row while this one waited for the event.
  await run(lockNewWork, values)
  const rows = await run<{ seq: number; state: State; has_payload: boolean; received_at: number }>(read, [
    ...values,
    conflict,
  ])
  return new Map(
    rows.map((row) => [
      row.seq,
      { state: row.state, hasPayload: row.has_payload, receivedAt: row.received_at },
    ]),
  )
}

interface Found {
  state: State
  /** Whether the bytes are there that the order is about. */
  readonly hasPayload: boolean
  readonly receivedAt: number
}

/** Updates the state, so that a key that is twice in one order is checked against the result of the first. */
function judge(order: Order, found: Found | undefined): OrderResult {
  if (found === undefined) return { done: false, code: 'EVENT_NOT_FOUND' }
  const from = found.state
  if (from === 'processing') return { done: false, code: 'EVENT_PROCESSING' }
  if (!canMove(from, order.verb)) return { done: false, code: 'MOVE_FORBIDDEN' }
  if (order.verb !== 'ignore' && !found.hasPayload) return { done: false, code: 'PAYLOAD_REMOVED' }
  if (from === 'succeeded' && !order.force) return { done: false, code: 'FORCE_NEEDED' }
  const to: State = order.verb === 'ignore' ? 'ignored' : 'pending'
  found.state = to
  return { done: true, from, to }
}

async function apply(run: Run, order: Order, done: readonly { key: EventKey; seq: number }[]): Promise<void> {
  const seqs = numbers(done.map((item) => item.seq))
  await run(writeLost, [seqs])
  if (order.verb === 'ignore') {
    await run(park, [seqs])
    await run(promote, [seqs])
  } else await run(restart, [seqs, order.verb === 'replay' ? 1 : 0])
  const keys = done.map((item) => item.key)
  await run(audit, [
    texts(keys.map((key) => key.source)),
    texts(keys.map((key) => key.eventId)),
    order.actor,
    order.verb,
    order.reason,
  ])
}
