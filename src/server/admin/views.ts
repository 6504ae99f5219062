/**
 * Rows of the log as the API shows them. The command line uses the same functions when it reads a store directly.
 * Only types come from `shapes.ts`, so that the command line does not load zod.
 */
import type { z } from 'zod'
import { type EventRecord, ignoredReasons, type SourceStats } from '../../model.js'
import type { Attempt, Audit } from '../../store.js'
import type { Authenticated } from './access.js'
import { may } from './options.js'
import type { attemptShape, auditShape, eventShape, payloadShape, statsShape } from './shapes.js'

export type EventView = z.infer<typeof eventShape>
export type AttemptView = z.infer<typeof attemptShape>
export type AuditView = z.infer<typeof auditShape>
export type StatsView = z.infer<typeof statsShape>
/** The JSON answer for a payload. */
export type PayloadAnswer = z.infer<typeof payloadShape>

/** ISO 8601. */
export function instant(at: number): string
export function instant(at: number | null): string | null
export function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/**
 * Whether this caller sees errors and the reasons of handlers. They are the application's words and may quote a payload,
 * so a role that may not read payloads does not see them.
 */
export function seesDetail(access: Authenticated | null): boolean {
  return access !== null && may(access.role, 'detail')
}

const ownReasons: readonly string[] = ignoredReasons

/** A reason that hookonce itself gave never quotes a payload. */
export function isOwnReason(reason: string): boolean {
  return ownReasons.includes(reason)
}

export function eventView(event: EventRecord, detail: boolean): EventView {
  const { seq, source, id, type, reference, state, reason, lastConflict } = event
  return {
    seq,
    source,
    id: id,
    type: type,
    reference,
    state,
    dead: state === 'failed' && event.nextAttemptAt === null,
    reason: reason !== null && (detail || (state === 'ignored' && isOwnReason(reason))) ? reason : null,
    receivedAt: instant(event.receivedAt),
    processedAt: instant(event.processedAt),
    attempts: event.attempts,
    run: event.run,
    nextAttemptAt: instant(event.nextAttemptAt),
    deliveries: event.deliveries,
    conflicts: event.conflicts,
    lastDeliveryAt: instant(event.lastDeliveryAt),
    lastConflict: lastConflict && { at: instant(lastConflict.at), hash: lastConflict.hash },
    contentHash: event.contentHash,
    sameAs: event.sameAs,
    payload: event.payload,
  }
}

export function attemptView(attempt: Attempt, detail: boolean): AttemptView {
  return {
    ...attempt,
    startedAt: instant(attempt.startedAt),
    finishedAt: instant(attempt.finishedAt),
    detail: detail ? attempt.detail : null,
  }
}

export function auditView({ id, at, actor, verb, source, eventId, note }: Audit): AuditView {
  return { id, at: instant(at), actor, verb, source, eventId, note }
}

export function statsView(stats: readonly SourceStats[]): StatsView {
  return {
    sources: stats.map((source) => ({
      ...source,
      oldestDueAt: instant(source.oldestDueAt),
      estimated: source.estimated === true,
    })),
  }
}
