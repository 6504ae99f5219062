/**
 * retry, replay and ignore by an operator. Rows are locked in the order of every other writer (work, then events, by
 * seq), checked, and changed in one transaction with the audit. An event with a live lease is not changed.
 */
import type { Action, ActionResult, EventKey, State } from '../../model.js'
import { actionResult, auditVerb, decidesOnly, namedContent } from '../shared/operate.js'
import { writeAudits } from './audit.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, statement, texts } from './connection/statement.js'
import { decideConflicts, swapContent } from './duplicates.js'
import { countHours, countParked } from './hours.js'
import { decideEffects } from './keys.js'
import { promote } from './settle.js'
import { parkedFor, shownFirst, stateOf } from './work.js'

/** $1 sources   $2 event ids */
const find = statement('operate_find')`
select i.n::int, e.seq
from unnest($1::text[], $2::text[]) with ordinality as i (source, event_id, n)
join hookonce.events e on e.source = i.source and e.event_id = i.event_id`

const lockWork = statement(
  'operate_lock_work',
)`select seq from hookonce.work where seq = any($1::bigint[]) order by seq for update`

/** Does not wait: waiting here, with the event locked, could deadlock. */
const lockNewWork = statement(
  'operate_lock_new_work',
)`select seq from hookonce.work where seq = any($1::bigint[]) order by seq for update nowait`

const lockEvents = statement(
  'operate_lock_events',
)`select seq from hookonce.events where seq = any($1::bigint[]) order by seq for update`

/** $1 seqs   $2 whether it is about other content   $3 the hash of that content, or null */
const read = statement('operate_read')`
select e.seq, ${stateOf} as state, e.received_at as "receivedAt", encode(o.hash, 'hex') as hash, coalesce(o.is_open, false) as "isOpen",
  case when $2::bool then coalesce(o.has_body, false)
    else exists (select 1 from hookonce.payloads p where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at)
  end as "hasPayload"
from hookonce.events e left join hookonce.work w on w.seq = e.seq
left join lateral (
  select c.hash, c.body is not null as has_body, c.decided_at is null as is_open from hookonce.conflicts c
  where $2::bool and c.seq = e.seq and c.hash = coalesce($3::bytea, c.hash) order by ${shownFirst} limit 1
) o on true
where e.seq = any($1::bigint[])`

/**
 * $1 seqs   $2 how much to add to the run. Earlier attempts no longer count against the retry policy. Of each lane the
 * first event is due and the others are parked; all of them are locked here or not yet visible to other transactions.
 */
export const restart = statement('operate_restart')`
with before as materialized (
  select e.seq, e.source, e.received_at, e.parked, e.lane, e.run + $2::int as run,
    coalesce((select max(a.attempt) from hookonce.attempts a where a.seq = e.seq), e.attempts, 0) as attempts
  from hookonce.events e where e.seq = any($1::bigint[])
),
reset as (
  update hookonce.events e set parked = null, withheld = null, reason = null, processed_at = null, run = b.run
  from before b where e.seq = b.seq
),
queued as (
  insert into hookonce.work as w (seq, source, next_at, attempt, base_attempt, run, lane)
  select seq, source, hookonce.clock() + case when lane is not null and row_number() over (partition by source, lane order by seq) > 1
    then ${parkedFor} else interval '0' end, attempts, attempts, run, lane from before
  on conflict (seq) do update set next_at = excluded.next_at, base_attempt = w.attempt, token = null, claimed_at = null, run = excluded.run
)${countHours('before where parked is not null', { ignored: `-${countParked('ignored')}`, dead: `-${countParked('dead')}` })}`

/** $1 seqs. Writes the `lost` attempt of an expired lease, as the next claim would. */
const writeLost = statement('operate_lost')`
insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
select seq, attempt, run, worker, claimed_at, next_at, 'lost' from hookonce.work
where seq = any($1::bigint[]) and token is not null`

const leave = statement('operate_leave')`delete from hookonce.work where seq = any($1::bigint[])`

const park = statement('operate_ignore')`
with before as materialized (
  select seq, source, received_at, parked from hookonce.events where seq = any($1::bigint[])
),
parked as (
  update hookonce.events e
  set parked = 'ignored', reason = 'operator', processed_at = hookonce.clock()
  where e.seq = any($1::bigint[])
)${countHours('before', { ignored: 'count(*)', dead: `-${countParked('dead')}` })}`

export function operate(db: Database, action: Action): Promise<ActionResult[]> {
  return db.atomic(async (run) => {
    const seqs = await findSeqs(run, action.events)
    const found = await lockAndRead(run, [...new Set(seqs.filter((seq) => seq !== undefined))], action)
    const results = seqs.map((seq) => {
      const event = seq === undefined ? undefined : found.get(seq)
      const result = actionResult(action, event)
      // A key that an action names twice is checked against its first result.
      if (event && result.done) {
        event.state = result.to
        event.isOpen = false
      }
      return result
    })
    if (action.dryRun) return results
    const done = action.events.flatMap((key, i) =>
      results[i]!.done ? [{ ...found.get(seqs[i]!)!, key }] : [],
    )
    if (done.length === 0) return results
    if (action.conflict && !decidesOnly(action)) await swapContent(run, db.partitions, done)
    await apply(run, action, done)
    return results
  })
}

async function findSeqs(run: Run, keys: readonly EventKey[]): Promise<(number | undefined)[]> {
  const seqs = new Array<number | undefined>(keys.length).fill(undefined)
  const values = [texts(keys.map((key) => key.source)), texts(keys.map((key) => key.id))]
  for (const { n, seq } of await run<{ n: number; seq: number }>(find, values)) seqs[n - 1] = seq
  return seqs
}

interface Found {
  readonly seq: number
  state: State
  /** The bytes that the action is about. */
  readonly hasPayload: boolean
  /** Of the other content that the action is about. */
  readonly hash: string
  isOpen: boolean
  readonly receivedAt: number
}

async function lockAndRead(run: Run, seqs: number[], action: Action): Promise<Map<number, Found>> {
  const values = [numbers(seqs)]
  await run(lockWork, values)
  await run(lockEvents, values)
  // Another action may have inserted a work row while this one waited for the event.
  await run(lockNewWork, values)
  const rows = await run<Found>(read, [...values, Boolean(action.conflict), namedContent(action)])
  return new Map(rows.map((row) => [row.seq, row]))
}

async function apply(
  run: Run,
  action: Action,
  done: readonly { key: EventKey; seq: number }[],
): Promise<void> {
  const seqs = done.map(({ seq }) => seq)
  if (decidesOnly(action)) await decideConflicts(run, seqs, namedContent(action))
  else {
    await run(writeLost, [numbers(seqs)])
    if (action.verb === 'ignore') {
      await run(leave, [numbers(seqs)])
      // Waits for the next event of a lane: its settle must not wait for the counters that `park` locks.
      await promote(run, seqs)
      await run(park, [numbers(seqs)])
    } else {
      await decideEffects(run, action, seqs[0]!)
      await run(restart, [numbers(seqs), action.verb === 'replay' ? 1 : 0])
    }
  }
  const { actor, note } = action
  const verb = auditVerb(action)
  await writeAudits(
    run,
    done.map(({ key: { source, id } }) => ({ actor, verb, source, eventId: id, note })),
  )
}
