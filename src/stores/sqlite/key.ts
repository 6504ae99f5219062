/** Resource-level idempotency keys: one holder at a time, fenced by a token, and a finished key gives its result. */
import { randomUUID } from 'node:crypto'
import type { KeyState, KeyStep } from '../../store.js'
import type { Connection } from './connection.js'

export function key(connection: Connection, now: number, step: KeyStep): KeyState {
  return connection.write(() =>
    step.step === 'take' ? take(connection, now, step.key, step.leaseMs) : underToken(connection, now, step),
  )
}

const byKey = `
  select held_until, finished_at, result, coalesce(expires_at <= ?2, 0) as expired from hookonce_keys where key = ?1`
const hold = `
  insert into hookonce_keys (key, token, held_until) values (?, ?, ?)
  on conflict (key) do update set token = excluded.token, held_until = excluded.held_until, result = null,
    finished_at = null, expires_at = null`

function take(connection: Connection, now: number, name: string, leaseMs: number): KeyState {
  const row = connection.prepare(byKey).get(name, now)
  const finished = row !== undefined && row.finished_at !== null
  if (finished && row.expired === 0) return { state: 'finished', result: String(row.result) }
  if (row !== undefined && !finished && Number(row.held_until) > now) {
    return { state: 'busy', until: Number(row.held_until) }
  }
  const token = randomUUID()
  connection.prepare(hold).run(name, token, now + leaseMs)
  return { state: 'taken', token, repeat: row !== undefined && !finished }
}

/** The fence: the token is the one of the last who took it, its time is not over, and it is not finished. */
const held = 'where key = ? and token = ? and held_until > ? and finished_at is null'
const extend = `update hookonce_keys set held_until = ? ${held}`
const finish = `update hookonce_keys set result = ?, finished_at = ?, expires_at = ? ${held}`
const drop = `delete from hookonce_keys ${held}`

function underToken(connection: Connection, now: number, step: Exclude<KeyStep, { step: 'take' }>): KeyState {
  const fence = [step.key, step.token, now] as const
  const { changes } =
    step.step === 'extend'
      ? connection.prepare(extend).run(now + step.leaseMs, ...fence)
      : step.step === 'finish'
        ? connection
            .prepare(finish)
            .run(step.result, now, step.ttlMs === null ? null : now + step.ttlMs, ...fence)
        : connection.prepare(drop).run(...fence)
  return { state: changes === 1 ? 'ok' : 'fenced' }
}

const removeExpired = `
  delete from hookonce_keys where key in (select key from hookonce_keys where expires_at <= ? limit ?)`
const anyExpired = 'select 1 from hookonce_keys where expires_at <= ? limit 1'

export function removeExpiredKeys(connection: Connection, now: number, limit: number): { more: boolean } {
  connection.prepare(removeExpired).run(now, limit)
  return { more: connection.prepare(anyExpired).get(now) !== undefined }
}
