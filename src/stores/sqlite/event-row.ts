/** An event as people see it, from its row in the ledger and, while it still needs something, its row in `work`. */
import type { EventRecord, State } from '../../model.js'
import { workState } from '../shared/state.js'
import type { Row, SqliteValue } from './driver.js'

/** The last error of a retrying event is read from its attempts: the ledger is written once, at the end. */
export const eventColumns = `
  select e.seq, e.source, e.event_id, e.event_type, e.related_reference, e.processing_state, e.reason,
    e.received_at, e.processed_at, e.attempts, e.run, e.content_hash, e.erased_at, e.same_as, e.contests,
    w.token, w.next_at, w.attempt, w.base_attempt,
    case when w.seq is not null then (
      select a.detail from hookonce_attempts a
      where a.seq = e.seq and a.outcome = 'failed' order by a.attempt desc limit 1
    ) end as last_error,
    d.count, d.last_at, d.conflicts, d.conflict_hash, d.conflict_at,
    exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)) as payload_kept
  from hookonce_events e
  left join hookonce_work w on w.seq = e.seq
  left join hookonce_duplicates d on d.seq = e.seq`

export function toRecord(row: Row, now: number): EventRecord {
  const { state, nextAttemptAt } = standing(row, now)
  return {
    seq: Number(row.seq),
    source: String(row.source),
    eventId: String(row.event_id),
    eventType: String(row.event_type),
    reference: textOrNull(row.related_reference),
    state,
    reason:
      row.attempt === null ? textOrNull(row.reason) : state === 'failed' ? textOrNull(row.last_error) : null,
    receivedAt: Number(row.received_at),
    processedAt: numberOrNull(row.processed_at),
    attempts: Number(row.attempt ?? row.attempts),
    run: Number(row.run),
    nextAttemptAt,
    deliveries: 1 + Number(row.count ?? 0),
    conflicts: Number(row.conflicts ?? 0),
    lastDeliveryAt: Number(row.last_at ?? row.received_at),
    lastConflict:
      row.conflict_hash instanceof Uint8Array
        ? { at: Number(row.conflict_at), hash: hex(row.conflict_hash) }
        : null,
    contentHash: hexOrNull(row.content_hash),
    sameAs: textOrNull(row.same_as),
    contests: textOrNull(row.contests),
    payloadKept: row.payload_kept === 1,
    payload: row.payload_kept === 1 ? 'kept' : row.erased_at === null ? 'removed' : 'erased',
  }
}

/** Needs processing_state, token, next_at, attempt, base_attempt; the last four null when it has no work row. */
export function standing(row: Row, now: number): { state: State; nextAttemptAt: number | null } {
  if (row.attempt === null) return { state: row.processing_state as State, nextAttemptAt: null }
  const nextAt = Number(row.next_at)
  const state = workState(
    {
      token: textOrNull(row.token),
      nextAt,
      attempt: Number(row.attempt),
      baseAttempt: Number(row.base_attempt),
    },
    now,
  )
  return { state, nextAttemptAt: state === 'processing' ? null : nextAt }
}

export function textOrNull(value: SqliteValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOrNull(value: SqliteValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function hexOrNull(value: SqliteValue | undefined): string | null {
  return value instanceof Uint8Array ? hex(value) : null
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
