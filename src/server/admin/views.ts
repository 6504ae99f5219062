/**
 * Rows as the API shows them. Who may not see payloads gets no text either that could quote one: errors and reasons of
 * handlers are the application's words.
 */
import { type Attempt, type Audit, type EventRecord, ignoredReasons } from '../../model.js'
import type { Entered } from './access.js'
import { may } from './roles.js'
import { instant } from './shapes.js'

const ownReasons: readonly string[] = ignoredReasons

export function seesDetail(access: Entered | null): boolean {
  return access !== null && may(access.role, 'detail')
}

/** A reason that hookonce gave itself says nothing about a payload. */
export function isOwnReason(reason: string): boolean {
  return ownReasons.includes(reason)
}

export function eventView(event: EventRecord, detail: boolean) {
  const { seq, source, eventId, eventType, reference, state, reason, lastConflict } = event
  return {
    seq,
    source,
    id: eventId,
    type: eventType,
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
    contests: event.contests,
    payloadKept: event.payloadKept,
  }
}

export type EventView = ReturnType<typeof eventView>

export function attemptView(attempt: Attempt, detail: boolean) {
  return {
    ...attempt,
    startedAt: instant(attempt.startedAt),
    finishedAt: instant(attempt.finishedAt),
    detail: detail ? attempt.detail : null,
  }
}

export function auditView({ id, at, actor, verb, source, eventId, reason }: Audit) {
  return { id, at: instant(at), actor, verb, source, eventId, reason }
}
