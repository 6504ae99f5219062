/**
 * Rows of the log as the API shows them. The command line uses these functions when it reads a store directly; it must
 * not load zod, so only types come from `shapes.ts`.
 */
import type { z } from 'zod'
import { type EventRecord, ignoredReasons, type SourceStats } from '../../model.js'
import type { Waiting } from '../../processing/waiting.js'
import type { Attempt, Pause } from '../../store.js'
import type { Authenticated } from './access.js'
import { may } from './options.js'
import type { payloadShape } from './shapes.js'

export type PayloadAnswer = z.infer<typeof payloadShape>

export function instant(at: number): string
export function instant(at: number | null): string | null
export function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

type Instant<T> = T extends number ? string : T
export type WithInstants<T> = T extends readonly (infer Each)[]
  ? WithInstants<Each>[]
  : T extends object
    ? { [K in keyof T]: K extends 'at' | `${string}At` ? Instant<T[K]> : WithInstants<T[K]> }
    : T

/** Replaces each number under a key `at` or `...At` by ISO 8601; null for a time that never comes. */
export function withInstants<T>(value: T): WithInstants<T> {
  if (Array.isArray(value)) return value.map(withInstants) as WithInstants<T>
  if (typeof value !== 'object' || value === null) return value as WithInstants<T>
  const fields = Object.entries(value).map(([name, inner]) => {
    const isTime = typeof inner === 'number' && (name === 'at' || name.endsWith('At'))
    if (!isTime) return [name, withInstants(inner)]
    return [name, Number.isFinite(inner) ? instant(inner) : null]
  })
  return Object.fromEntries(fields)
}

/** Errors, and reasons that handlers give, may quote a payload. A role that may not read payloads does not see them. */
export function seesDetail(access: Authenticated | null): boolean {
  return access !== null && may(access.role, 'detail')
}

const ownReasons: readonly string[] = ignoredReasons

/** A reason that hookonce itself gave never quotes a payload. */
export function isOwnReason(reason: string): boolean {
  return ownReasons.includes(reason)
}

/** `waiting`: why it is not finished; null in a stream of new events, which does not ask. */
export function eventView(event: EventRecord, detail: boolean, waiting: Waiting | null = null) {
  const { state, reason, nextAttemptAt } = event
  const isShown = reason !== null && (detail || (state === 'ignored' && isOwnReason(reason)))
  return withInstants({
    ...event,
    dead: state === 'failed' && nextAttemptAt === null,
    reason: isShown ? reason : null,
    waiting: waiting && withInstants(waiting),
  })
}
export type EventView = ReturnType<typeof eventView>

export function attemptView(attempt: Attempt, detail: boolean) {
  return withInstants({ ...attempt, ...(detail ? {} : { detail: null, place: null }) })
}
export type AttemptView = ReturnType<typeof attemptView>

export function pauseView({ source, type, actor, note, at }: Pause, detail: boolean) {
  return withInstants({ source, type, actor, note: detail ? note : null, at })
}
export type PauseView = ReturnType<typeof pauseView>

export function statsView(stats: readonly SourceStats[]) {
  return withInstants({ sources: stats.map((own) => ({ ...own, estimated: own.estimated === true })) })
}
