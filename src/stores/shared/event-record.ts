import type { EventRecord } from '../../model.js'
import type { StoredEvent } from '../../store.js'
import { referencesOf } from './references.js'

export interface EventRow extends Omit<EventRecord, 'lastConflict' | 'references'> {
  reference_label: string | null
  other_references: string | null
  conflict_at: number | null
  conflict_hash: string | null
  decided_at: number | null
}

type StoredRow = Omit<StoredEvent, 'references'> & Pick<EventRow, 'reference_label' | 'other_references'>

/** For an archive. An event without labelled references has no list of them. */
export function asStored({
  reference_label: label,
  other_references: others,
  ...event
}: StoredRow): StoredEvent {
  const references = referencesOf(event.reference, label, others)
  return references.length === 0 ? event : { ...event, references }
}

/** The error of an earlier run does not belong to an event that an operator has restarted. */
export function asRecord(row: EventRow): EventRecord {
  const { conflict_at: at, conflict_hash: hash, decided_at: decidedAt, reason, ...rest } = row
  const { reference_label: label, other_references: others, ...event } = rest
  return {
    ...event,
    references: referencesOf(event.reference, label, others),
    reason: event.state === 'ignored' || event.state === 'failed' ? reason : null,
    lastConflict: at === null || hash === null ? null : { at, hash, decidedAt },
  }
}
