import type { EventRecord } from '../../model.js'

export interface EventRow extends Omit<EventRecord, 'lastConflict'> {
  conflict_at: number | null
  conflict_hash: string | null
  decided_at: number | null
}

/** The error of an earlier run does not belong to an event that an operator has restarted. */
export function asRecord(row: EventRow): EventRecord {
  const { conflict_at: at, conflict_hash: hash, decided_at: decidedAt, reason, ...event } = row
  return {
    ...event,
    reason: event.state === 'ignored' || event.state === 'failed' ? reason : null,
    lastConflict: at === null || hash === null ? null : { at, hash, decidedAt },
  }
}
