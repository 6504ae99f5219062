import { randomUUID } from 'node:crypto'
import type { Action } from '../../model.js'
import { notUnknown } from '../../store/input.js'
import type { EffectState, EffectStep, KeyState, KeyStep, Watermark } from '../../store.js'
import type { Connection } from './connection.js'
import { numberOrNull } from './rows.js'

const liveLease = 'select 1 from hookonce_work where seq = ? and token = ? and next_at > ?'
const beginEffect = `
  insert into hookonce_effects (seq, name, state, started_at) values (?, ?, 'started', ?) on conflict do nothing`
// The first result is kept: a later attempt must get the result of the effect that happened.
const finishEffect = `
  insert into hookonce_effects (seq, name, state, result, started_at, finished_at)
  values (?1, ?2, 'finished', ?3, ?4, ?4)
  on conflict (seq, name) do update set state = 'finished', result = excluded.result,
    finished_at = excluded.finished_at
  where state = 'started'`
const finishLate = `
  update hookonce_effects set state = 'finished', result = ?3, finished_at = ?4
  where seq = ?1 and name = ?2 and state = 'started' and not exists (
    select 1 from hookonce_work where seq = ?1 and token is not null and next_at > ?4)`
const dropEffect = "delete from hookonce_effects where seq = ? and name = ? and state = 'started'"
const readEffect = 'select state, result, started_at from hookonce_effects where seq = ? and name = ?'

export function effect(log: Connection, step: EffectStep): EffectState {
  return log.write(() => effectWithin(log, step))
}

export function effectWithin(log: Connection, step: EffectStep): EffectState {
  const { lease, name } = step
  if (step.step === 'finish' && step.late) {
    const { changes } = log.run(finishLate, lease.seq, name, step.result, log.now)
    return changes === 1 ? { state: 'finished', result: step.result } : { state: 'fenced' }
  }
  if (log.get(liveLease, lease.seq, lease.token, log.now) === undefined) return { state: 'fenced' }
  if (step.step === 'finish') log.run(finishEffect, lease.seq, name, step.result, log.now)
  else if (step.step === 'drop') log.run(dropEffect, lease.seq, name)
  else if (log.run(beginEffect, lease.seq, name, log.now).changes === 1) return { state: 'new' }
  const row = log.get(readEffect, lease.seq, name)
  if (row === undefined) return { state: 'new' }
  if (row.state === 'finished') return { state: 'finished', result: String(row.result) }
  return { state: 'unknown', ageMs: Math.max(0, log.now - Number(row.started_at)) }
}

const finishUnknown = `
  update hookonce_effects set state = 'finished', result = ?3, finished_at = ?4
  where seq = ?1 and name = ?2 and state = 'started'`

/** What a person has found out about the effects of an event whose end is unknown. */
export function decideEffects(log: Connection, { events, effects = {} }: Action, seq: number): void {
  for (const [name, result] of Object.entries(effects)) {
    const { changes } =
      result === null ? log.run(dropEffect, seq, name) : log.run(finishUnknown, seq, name, result, log.now)
    if (changes === 0) throw notUnknown(name, events[0]!)
  }
}

export function key(log: Connection, step: KeyStep): KeyState {
  return log.write(() =>
    step.step === 'take' ? takeKey(log, step.key, step.leaseMs) : changeUnderToken(log, step),
  )
}

const readKey = `
  select held_until, finished_at, result, coalesce(expires_at <= ?2, 0) as expired from hookonce_keys where key = ?1`
const reserve = `
  insert into hookonce_keys (key, token, held_until) values (?, ?, ?)
  on conflict (key) do update set token = excluded.token, held_until = excluded.held_until, result = null,
    finished_at = null, expires_at = null`

function takeKey(log: Connection, name: string, leaseMs: number): KeyState {
  const row = log.get(readKey, name, log.now)
  const finished = row !== undefined && row.finished_at !== null
  if (finished && row.expired === 0) return { state: 'finished', result: String(row.result) }
  if (row !== undefined && !finished && Number(row.held_until) > log.now) return { state: 'busy' }
  const token = randomUUID()
  log.run(reserve, name, token, log.now + leaseMs)
  return { state: 'taken', token }
}

/** The token is that of the latest holder, its reservation has not expired, and the key is not finished. */
const reservedByToken = 'where key = ? and token = ? and held_until > ? and finished_at is null'
const extendKey = `update hookonce_keys set held_until = ? ${reservedByToken}`
const finishKey = `update hookonce_keys set result = ?, finished_at = ?, expires_at = ? ${reservedByToken}`
const dropKey = `delete from hookonce_keys ${reservedByToken}`

function changeUnderToken(log: Connection, step: Exclude<KeyStep, { step: 'take' }>): KeyState {
  const fence = [step.key, step.token, log.now] as const
  const { changes } =
    step.step === 'extend'
      ? log.run(extendKey, log.now + step.leaseMs, ...fence)
      : step.step === 'finish'
        ? log.run(
            finishKey,
            step.result,
            log.now,
            step.ttlMs === null ? null : log.now + step.ttlMs,
            ...fence,
          )
        : log.run(dropKey, ...fence)
  return { state: changes === 1 ? 'ok' : 'fenced' }
}

const removeExpired = `
  delete from hookonce_keys where key in (select key from hookonce_keys where expires_at <= ? limit ?)`

export function removeExpiredKeys(log: Connection, limit: number): number {
  return Number(log.run(removeExpired, log.now, limit).changes)
}

const moveForward = `
  insert into hookonce_watermarks (source, key, value) values (?, ?, ?)
  on conflict (source, key) do update set value = excluded.value where value <= excluded.value`

/** Call it inside a write transaction. False: the stored watermark is already higher. */
export function advanceWithin(log: Connection, { source, key, value }: Watermark): boolean {
  return log.run(moveForward, source, key, value).changes === 1
}

const readWatermark = 'select value from hookonce_watermarks where source = ? and key = ?'

export function watermark(
  log: Connection,
  { source, key }: Pick<Watermark, 'source' | 'key'>,
): number | null {
  return numberOrNull(log.get(readWatermark, source, key)?.value)
}
