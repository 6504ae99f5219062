import type { Action } from '../../model.js'
import { notUnknown } from '../../store/input.js'
import type { EffectState, EffectStep, KeyState, KeyStep } from '../../store.js'
import type { Database } from './connection/database.js'
import { adhoc, type Run, statement } from './connection/statement.js'
import { leaseValues, liveLeases, tokenOf } from './leases.js'
import { alive } from './work.js'

/** $3 name */
const startEffect = statement('effect_start')`with ${liveLeases},
added as (
  insert into hookonce.effects (seq, name, started_at) select seq, $3, hookonce.clock() from live
  on conflict do nothing
  returning 1
)
select exists (select 1 from added) as added, e.finished_at is not null as finished, e.result,
  extract(epoch from hookonce.clock() - e.started_at) * 1000 as age_ms
from live l left join hookonce.effects e on e.seq = l.seq and e.name = $3`

/** $3 name   $4 result */
const finishEffect = statement('effect_finish')`with ${liveLeases}
insert into hookonce.effects as e (seq, name, started_at, finished_at, result)
select seq, $3, hookonce.clock(), hookonce.clock(), $4 from live
on conflict (seq, name) do update set
  finished_at = coalesce(e.finished_at, excluded.finished_at),
  result = case when e.finished_at is null then excluded.result else e.result end
returning false as added, true as finished, e.result`

/** $1 seq   $2 name   $3 result */
const finishLate = statement('effect_finish_late')`
update hookonce.effects e set finished_at = hookonce.clock(), result = $3
where e.seq = $1::bigint and e.name = $2 and e.finished_at is null and not exists (
  select 1 from hookonce.work w where w.seq = $1::bigint and w.token is not null and ${alive})
returning false as added, true as finished, e.result`

const dropEffect = statement('effect_drop')`with ${liveLeases},
gone as (
  delete from hookonce.effects e using live l where e.seq = l.seq and e.name = $3 and e.finished_at is null
)
select e.finished_at is null as added, e.finished_at is not null as finished, e.result
from live l left join hookonce.effects e on e.seq = l.seq and e.name = $3`

interface EffectRow {
  added: boolean
  finished: boolean
  result: string | null
  /** Of a start. Null for a new effect, whose row this statement does not see. */
  age_ms?: number | null
}

/** The lock on the work row keeps other workers out. */
export async function effect(run: Run, step: EffectStep): Promise<EffectState> {
  const values = [...leaseValues([step.lease]), step.name]
  const rows =
    step.step === 'start'
      ? await run<EffectRow>(startEffect, values)
      : step.step === 'drop'
        ? await run<EffectRow>(dropEffect, values)
        : step.late
          ? await run<EffectRow>(finishLate, [step.lease.seq, step.name, step.result])
          : await run<EffectRow>(finishEffect, [...values, step.result])
  const row = rows[0]
  if (!row) return { state: 'fenced' }
  if (row.finished) return { state: 'finished', result: row.result ?? '' }
  return row.added ? { state: 'new' } : { state: 'unknown', ageMs: Math.max(0, Number(row.age_ms ?? 0)) }
}

/** $1 seq   $2 name   $3 result */
const finishUnknown = statement('effect_decide')`
update hookonce.effects set finished_at = hookonce.clock(), result = $3
where seq = $1::bigint and name = $2 and finished_at is null returning 1`

const dropUnknown = statement(
  'effect_forget',
)`delete from hookonce.effects where seq = $1::bigint and name = $2 and finished_at is null returning 1`

/** What a person has found out about the effects of an event whose end is unknown. */
export async function decideEffects(run: Run, { events, effects = {} }: Action, seq: number): Promise<void> {
  for (const [name, result] of Object.entries(effects)) {
    const found =
      result === null ? await run(dropUnknown, [seq, name]) : await run(finishUnknown, [seq, name, result])
    if (found.length === 0) throw notUnknown(name, events[0]!)
  }
}

/** $1 key   $2 lease in ms */
const addKey = statement('key_add')`
insert into hookonce.keys (key, token, held_until)
values ($1, gen_random_uuid(), hookonce.clock() + make_interval(secs => $2::float8 / 1000))
on conflict do nothing
returning token`

const lockKey = statement('key_lock')`
select held_until > hookonce.clock() as held, finished_at is not null as finished, result,
  coalesce(expires_at <= hookonce.clock(), false) as expired
from hookonce.keys where key = $1 for update`

const retakeKey = statement('key_retake')`
update hookonce.keys
set token = gen_random_uuid(), held_until = hookonce.clock() + make_interval(secs => $2::float8 / 1000),
  finished_at = null, expires_at = null, result = null
where key = $1
returning token`

/** $1 key   $2 token   $3 lease in ms */
const extendKey = statement('key_extend')`
update hookonce.keys set held_until = hookonce.clock() + make_interval(secs => $3::float8 / 1000)
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`

/** $1 key   $2 token   $3 result   $4 time to live in ms, or null */
const finishKey = statement('key_finish')`
update hookonce.keys
set finished_at = hookonce.clock(), result = $3, expires_at = hookonce.clock() + make_interval(secs => $4::float8 / 1000)
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`

const dropKey = statement('key_drop')`
delete from hookonce.keys
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`

/** The primary key decides which caller is first; the token shows that a caller still has the key. */
export async function keyStep(db: Database, step: KeyStep): Promise<KeyState> {
  if (step.step === 'take') return db.atomic((run) => takeKey(run, step.key, step.leaseMs))
  const token = tokenOf(step.token)
  const rows =
    step.step === 'extend'
      ? await db.query(extendKey, [step.key, token, step.leaseMs])
      : step.step === 'finish'
        ? await db.query(finishKey, [step.key, token, step.result, step.ttlMs])
        : await db.query(dropKey, [step.key, token])
  return { state: rows.length === 1 ? 'ok' : 'fenced' }
}

async function takeKey(run: Run, key: string, leaseMs: number): Promise<KeyState> {
  for (;;) {
    const [added] = await run<{ token: string }>(addKey, [key, leaseMs])
    if (added) return { state: 'taken', token: added.token }
    const [row] = await run<{
      held: boolean
      finished: boolean
      result: string
      expired: boolean
    }>(lockKey, [key])
    if (!row) continue // it was dropped after the insert failed
    if (row.finished && !row.expired) return { state: 'finished', result: row.result }
    if (!row.finished && row.held) return { state: 'busy' }
    const [taken] = await run<{ token: string }>(retakeKey, [key, leaseMs])
    return { state: 'taken', token: taken!.token }
  }
}

/** $1 source   $2 key   $3 value. No row when the watermark is higher: it never moves back. */
export const advanceWatermark = statement('watermark_advance')`
insert into hookonce.watermarks as w (source, key, value) values ($1, $2, $3)
on conflict (source, key) do update set value = excluded.value where w.value <= excluded.value
returning value`

const readWatermark = statement(
  'watermark',
)`select value from hookonce.watermarks where source = $1 and key = $2`

export async function watermarkOf(db: Database, source: string, key: string): Promise<number | null> {
  const [row] = await db.query<{ value: number }>(readWatermark, [source, key])
  return row?.value ?? null
}

/**
 * Changes with the start of the server, which may have got a copy of its files, with the database, the table and its
 * file, which a restore from a dump replaces. Every role may read these.
 */
const place = `
select extract(epoch from pg_postmaster_start_time())::text || ':' ||
  (select oid from pg_database where datname = current_database()) || ':' ||
  'hookonce.events'::regclass::oid || ':' || pg_relation_filenode('hookonce.events'::regclass) as place`

export async function placeOf(db: Database): Promise<string> {
  const [row] = await db.query<{ place: string }>(adhoc(place), [])
  return row!.place
}
