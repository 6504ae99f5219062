/** Every statement here changes nothing when the lease has expired. */
import type { Settlement } from '../../model.js'
import { asRows } from '../shared/references.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, type Statement, statement, texts } from './connection/statement.js'
import { countHours, countParked } from './hours.js'
import { applied, leaseValues, NO_TOKEN, tokenOf } from './leases.js'
import { insertReferences } from './references.js'
import { alive } from './work.js'

const referred = `referred as (${insertReferences(
  "select seq, rows from finished where rows is not null and kind <> 'failed'",
)}
),
`
const promoteLanes = 'hookonce.promote_lanes(array_agg(seq), array_agg(source), array_agg(lane))'

/**
 * $1 seqs   $2 tokens   $3 kinds   $4 reasons or errors   $5 retry in ms, or null   $6 durations in ms   $7 references (JSON) or
 * null   $8 whether this is the transaction of a handler   $9 places in the code
 *
 * The delete and the update check the token: another transaction that wants the row waits for this one and then does not
 * find its token. Success writes nothing to `events`. The last line reads `promoted`, because PostgreSQL does not run a select
 * in `with` that nobody reads.
 */
const settleBatch = (promotes: boolean, refers = false) =>
  statement((promotes ? 'settle' : 'settle_alone') + (refers ? '_referring' : ''))`
with input as materialized (
  select * from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::text[], $9::text[])
    with ordinality as i (seq, token, kind, detail, retry_ms, duration_ms, rows, place, n)
  order by seq
),
finished as (
  delete from hookonce.work w using input i
  where w.seq = i.seq and w.token = i.token and ${alive} and i.retry_ms is null
  returning i.n, w.seq, w.attempt, w.run, w.worker, i.kind, i.detail, i.place, i.duration_ms, w.source, w.lane, i.rows
),
waiting as (
  update hookonce.work w set token = null, next_at = hookonce.clock() + make_interval(secs => i.retry_ms / 1000)
  from input i
  where w.seq = i.seq and w.token = i.token and ${alive} and i.retry_ms is not null
  returning i.n, w.seq, w.attempt, w.run, w.worker, i.kind, i.detail, i.place, i.duration_ms, w.source, w.lane, i.rows
),
${refers ? referred : ''}promoted as materialized (
  select ${promotes ? promoteLanes : 'null'} from finished where lane is not null having count(*) > 0
),
settled as materialized (
  select * from finished union all select * from waiting
),
parked as (
  update hookonce.events e
  set processed_at = hookonce.clock(), reason = f.detail, parked = case f.kind when 'ignored' then 'ignored' else 'dead' end
  from finished f where e.seq = f.seq and f.kind <> 'succeeded'
  returning e.source, e.received_at, e.parked
),
counted as (${countHours('parked', { ignored: countParked('ignored'), dead: countParked('dead') })}
),
noted as (
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail, place, xid)
  select seq, attempt, run, worker, hookonce.clock() - make_interval(secs => duration_ms / 1000), hookonce.clock(), kind, detail, place,
    case when $8 then pg_current_xact_id() end
  from settled
)
select n::int from settled where (select count(*) from promoted) >= 0`
const settleAndPromote = settleBatch(true)
const settleAlone = settleBatch(false)
const settleAndRefer = settleBatch(true, true)
const settleAloneAndRefer = settleBatch(false, true)

const promoteAfter = statement('promote')`
select ${promoteLanes} from hookonce.events where seq = any($1::bigint[]) and lane is not null having count(*) > 0`

/** A separate statement, because it must see the deletes. */
export async function promote(run: Run, seqs: readonly number[]): Promise<void> {
  await run(promoteAfter, [numbers(seqs)])
}

export const LEASE_EXPIRED = 'HK001'

/** Shares a round trip with COMMIT: when the lease has expired, its error aborts the transaction. */
export const createSettleSucceeded = `
create or replace function hookonce.settle_succeeded(event_seq bigint, lease uuid, duration_ms float8) returns void language plpgsql as $$
declare
  held record;
begin
  delete from hookonce.work w where w.seq = event_seq and w.token = lease
    and ${alive}
  returning w.source, w.lane, w.attempt, w.run, w.worker into held;
  if not found then
    raise exception 'the lease is dead' using errcode = '${LEASE_EXPIRED}';
  end if;
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome, xid)
  values (event_seq, held.attempt, held.run, held.worker, hookonce.clock() - make_interval(secs => duration_ms / 1000),
    hookonce.clock(), 'succeeded', pg_current_xact_id());
  if held.lane is not null then
    perform hookonce.promote_lanes(array[event_seq], array[held.source], array[held.lane]);
  end if;
end $$;
`

export const settleSucceeded = statement('settle_succeeded')`select hookonce.settle_succeeded($1, $2, $3)`

/**
 * All events succeeded, or LEASE_EXPIRED. The call of the function never finds a lease: it only raises the error, without a
 * round trip in which this process would count the rows.
 *
 * $1 seqs   $2 tokens   $3 durations in ms   $4 number of events
 */
export const settleGroup = statement('settle_group')`
with input as materialized (
  select * from unnest($1::bigint[], $2::uuid[], $3::float8[]) as i (seq, token, duration_ms) order by seq
),
finished as (
  delete from hookonce.work w using input i where w.seq = i.seq and w.token = i.token and ${alive}
  returning w.seq, w.attempt, w.run, w.worker, i.duration_ms, w.source, w.lane
),
promoted as materialized (
  select ${promoteLanes} from finished where lane is not null having count(*) > 0
),
noted as (
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome, xid)
  select seq, attempt, run, worker, hookonce.clock() - make_interval(secs => duration_ms / 1000), hookonce.clock(), 'succeeded',
    pg_current_xact_id()
  from finished
)
select case when count(*) <> $4::int then hookonce.settle_succeeded(0, '${NO_TOKEN}', 0) end
from finished where (select count(*) from promoted) >= 0`

export function succeededValues({ lease, durationMs }: Settlement): unknown[] {
  return [lease.seq, tokenOf(lease.token), durationMs]
}

export function groupValues(settlements: readonly Settlement[]): unknown[] {
  return [
    ...leaseValues(settlements.map(({ lease }) => lease)),
    numbers(settlements.map(({ durationMs }) => durationMs)),
    settlements.length,
  ]
}

export function settleSucceededSql({ lease, durationMs }: Settlement): string {
  return `select hookonce.settle_succeeded(${Number(lease.seq)}, '${tokenOf(lease.token)}', ${Number(durationMs)})`
}

export function settling(
  settlements: readonly Settlement[],
  { promotes, isHandlers }: { readonly promotes: boolean; readonly isHandlers: boolean },
): [Statement, unknown[]] {
  const outcomes = settlements.map((settlement) => settlement.outcome)
  const rows = settlements.map(({ references }) => asRows(references))
  const [promoting, alone] = rows.every((one) => one === null)
    ? [settleAndPromote, settleAlone]
    : [settleAndRefer, settleAloneAndRefer]
  return [
    promotes ? promoting : alone,
    [
      ...leaseValues(settlements.map((settlement) => settlement.lease)),
      texts(outcomes.map((outcome) => outcome.kind)),
      texts(
        outcomes.map((outcome) =>
          'reason' in outcome ? outcome.reason : 'error' in outcome ? outcome.error : null,
        ),
      ),
      numbers(outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.retryInMs : null))),
      numbers(settlements.map((settlement) => settlement.durationMs)),
      texts(rows),
      isHandlers,
      texts(outcomes.map((outcome) => (outcome.kind === 'failed' && outcome.place) || null)),
    ],
  ]
}

export async function settle(db: Database, settlements: readonly Settlement[]): Promise<boolean[]> {
  return applied(
    settlements.length,
    await db.query(...settling(settlements, { promotes: true, isHandlers: false })),
  )
}
