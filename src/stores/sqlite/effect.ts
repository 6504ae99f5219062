/** Named side effects: begun and finished durably, under a live lease, so that a finished one is never repeated. */
import type { EffectState, EffectStep } from '../../store.js'
import type { Connection } from './connection.js'

const alive = 'select 1 from hookonce_work where seq = ? and token = ? and next_at > ?'
const begin = `
  insert into hookonce_effects (seq, name, state, started_at) values (?, ?, 'started', ?) on conflict do nothing`
// The first result stands: a later attempt must be told what was really done.
const finish = `
  insert into hookonce_effects (seq, name, state, result, started_at, finished_at)
  values (?1, ?2, 'finished', ?3, ?4, ?4)
  on conflict (seq, name) do update set state = 'finished', result = excluded.result,
    finished_at = excluded.finished_at
  where state = 'started'`
const drop = "delete from hookonce_effects where seq = ? and name = ? and state = 'started'"
const read = 'select state, result from hookonce_effects where seq = ? and name = ?'

export function effect(connection: Connection, now: number, step: EffectStep): EffectState {
  return connection.write(() => effectWithin(connection, now, step))
}

/** The same inside a transaction that is already open: a handler's. */
export function effectWithin(connection: Connection, now: number, step: EffectStep): EffectState {
  const { lease, name } = step
  if (connection.prepare(alive).get(lease.seq, lease.token, now) === undefined) return { state: 'fenced' }
  if (step.step === 'finish') connection.prepare(finish).run(lease.seq, name, step.result, now)
  else if (step.step === 'drop') connection.prepare(drop).run(lease.seq, name)
  else if (connection.prepare(begin).run(lease.seq, name, now).changes === 1) return { state: 'new' }
  const row = connection.prepare(read).get(lease.seq, name)
  if (row === undefined) return { state: 'new' }
  return row.state === 'finished' ? { state: 'finished', result: String(row.result) } : { state: 'unknown' }
}
