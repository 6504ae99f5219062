/** key: resource-level idempotency keys. The primary key decides who is first; a token fences the holder. */
import type { KeyState, KeyStep } from '../../store.js'
import type { Database, Run, Statement } from './database.js'
import { tokenOf } from './settle.js'

/** $1 key   $2 lease in ms */
const add: Statement = {
  name: 'key_add',
  sql: `
insert into hookonce.keys (key, token, held_until)
values ($1, gen_random_uuid(), hookonce.clock() + make_interval(secs => $2::float8 / 1000))
on conflict do nothing
returning token`,
}

const lock: Statement = {
  name: 'key_lock',
  sql: `
select held_until, held_until > hookonce.clock() as held, finished_at is not null as finished, result,
  coalesce(expires_at <= hookonce.clock(), false) as expired
from hookonce.keys where key = $1 for update`,
}

const retake: Statement = {
  name: 'key_retake',
  sql: `
update hookonce.keys
set token = gen_random_uuid(), held_until = hookonce.clock() + make_interval(secs => $2::float8 / 1000),
  finished_at = null, expires_at = null, result = null
where key = $1
returning token`,
}

/** $1 key   $2 token   $3 lease in ms */
const extend: Statement = {
  name: 'key_extend',
  sql: `
update hookonce.keys set held_until = hookonce.clock() + make_interval(secs => $3::float8 / 1000)
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`,
}

/** $1 key   $2 token   $3 result   $4 time to live in ms, or null */
const finish: Statement = {
  name: 'key_finish',
  sql: `
update hookonce.keys
set finished_at = hookonce.clock(), result = $3, expires_at = hookonce.clock() + make_interval(secs => $4::float8 / 1000)
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`,
}

const drop: Statement = {
  name: 'key_drop',
  sql: `
delete from hookonce.keys
where key = $1 and token = $2 and finished_at is null and held_until > hookonce.clock()
returning 1`,
}

export async function keyStep(db: Database, step: KeyStep): Promise<KeyState> {
  if (step.step === 'take') return db.atomic((run) => take(run, step.key, step.leaseMs))
  const token = tokenOf(step.token)
  const rows =
    step.step === 'extend'
      ? await db.query(extend, [step.key, token, step.leaseMs])
      : step.step === 'finish'
        ? await db.query(finish, [step.key, token, step.result, step.ttlMs])
        : await db.query(drop, [step.key, token])
  return { state: rows.length === 1 ? 'ok' : 'fenced' }
}

async function take(run: Run, key: string, leaseMs: number): Promise<KeyState> {
  for (;;) {
    const [added] = await run<{ token: string }>(add, [key, leaseMs])
    if (added) return { state: 'taken', token: added.token, repeat: false }
    const [row] = await run<{
      held_until: number
      held: boolean
      finished: boolean
      result: string
      expired: boolean
    }>(lock, [key])
    if (!row) continue // dropped in between
    if (row.finished && !row.expired) return { state: 'finished', result: row.result }
    if (!row.finished && row.held) return { state: 'busy', until: row.held_until }
    const [taken] = await run<{ token: string }>(retake, [key, leaseMs])
    return { state: 'taken', token: taken!.token, repeat: !row.finished }
  }
}
