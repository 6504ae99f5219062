import type { EventRecord } from '../../model.js'

export interface EventRow extends Omit<EventRecord, 'lastConflict'> {
  conflict_at: number | null
  conflict_hash: string | null
}

/** The error of an earlier run does not belong to an event that an operator has restarted. */
export function asRecord({ conflict_at: at, conflict_hash: hash, reason, ...event }: EventRow): EventRecord {
  return {
    ...event,
    reason: event.state === 'ignored' || event.state === 'failed' ? reason : null,
    lastConflict: at === null || hash === null ? null : { at, hash },
  }
}
