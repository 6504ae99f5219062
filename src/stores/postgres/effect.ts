/** effect: a named side effect starts and finishes under a live lease. The lock on the work row is the fence. */
import type { EffectState, EffectStep } from '../../store.js'
import type { Run, Statement } from './database.js'
import { leases } from './settle.js'
import { alive } from './state.js'

const live = `
with live as materialized (
  select w.seq
  from unnest($1::bigint[], $2::uuid[]) as i (seq, token)
  join hookonce.work w on w.seq = i.seq and w.token = i.token and ${alive}
  for update of w
)`

/** $3 name */
const start: Statement = {
  name: 'effect_start',
  sql: `${live},
added as (
  insert into hookonce.effects (seq, name, started_at) select seq, $3, hookonce.clock() from live
  on conflict do nothing
  returning 1
)
select exists (select 1 from added) as added, e.finished_at is not null as finished, e.result
from live l left join hookonce.effects e on e.seq = l.seq and e.name = $3`,
}

/** $3 name   $4 result */
const finish: Statement = {
  name: 'effect_finish',
  sql: `${live}
insert into hookonce.effects as e (seq, name, started_at, finished_at, result)
select seq, $3, hookonce.clock(), hookonce.clock(), $4 from live
on conflict (seq, name) do update set
  finished_at = coalesce(e.finished_at, excluded.finished_at),
  result = case when e.finished_at is null then excluded.result else e.result end
returning false as added, true as finished, e.result`,
}

const drop: Statement = {
  name: 'effect_drop',
  sql: `${live},
gone as (
  delete from hookonce.effects e using live l where e.seq = l.seq and e.name = $3 and e.finished_at is null
)
select e.finished_at is null as added, e.finished_at is not null as finished, e.result
from live l left join hookonce.effects e on e.seq = l.seq and e.name = $3`,
}

interface Row {
  added: boolean
  finished: boolean
  result: string | null
}

/** `run` is a statement of its own, or one inside a handler's transaction. */
export async function effect(run: Run, step: EffectStep): Promise<EffectState> {
  const values = [...leases([step.lease]), step.name]
  const rows =
    step.step === 'start'
      ? await run<Row>(start, values)
      : step.step === 'drop'
        ? await run<Row>(drop, values)
        : await run<Row>(finish, [...values, step.result])
  const row = rows[0]
  if (!row) return { state: 'fenced' }
  if (row.finished) return { state: 'finished', result: row.result ?? '' }
  return { state: row.added ? 'new' : 'unknown' }
}
