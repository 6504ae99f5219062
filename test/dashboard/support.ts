import type { Attempt, Audit, EventView } from '../../dashboard/src/api/client'

export const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()

/** A conflict of second 5; `decidedAt` null: it is open. */
export const conflictAt5 = (decidedAt: string | null) => ({ at: at(5), hash: 'ff', decidedAt })

/** An event that was received at second 0 and handled by its first attempt; `change` is what differs. */
export function eventWith(change: Partial<EventView> = {}): EventView {
  return {
    source: 'shop',
    id: 'evt_1',
    seq: 1,
    type: 'order.paid',
    reference: null,
    references: [],
    state: 'succeeded',
    dead: false,
    reason: null,
    run: 1,
    attempts: 1,
    deliveries: 1,
    conflicts: 0,
    receivedAt: at(0),
    lastDeliveryAt: at(0),
    processedAt: at(2),
    nextAttemptAt: null,
    lastConflict: null,
    sameAs: null,
    origin: 'delivery',
    contentHash: null,
    waiting: null,
    payload: 'kept',
    ...change,
  }
}

export function attemptWith(change: Partial<Attempt> = {}): Attempt {
  return {
    run: 1,
    attempt: 1,
    startedAt: at(1),
    finishedAt: at(2),
    outcome: 'succeeded',
    worker: 'web-1',
    detail: null,
    place: null,
    ...change,
  }
}

export function auditWith(change: Partial<Audit> = {}): Audit {
  return {
    id: 1,
    at: at(3),
    actor: 'ann',
    verb: 'retry',
    source: 'shop',
    eventId: 'evt_1',
    note: '',
    from: null,
    to: null,
    ...change,
  } as Audit
}
