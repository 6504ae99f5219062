/** Rows as objects and back: an event from its rows in `events` and `work`, and the rows of `attempts`. */
import type { EventRecord, State } from '../../model.js'
import type { AttemptOutcome } from '../../store.js'
import { workState } from '../shared/work.js'
import type { Connection } from './connection.js'
import type { Row, SqliteValue } from './driver.js'

/** The last error of a retrying event is read from `attempts`, because the row in `events` is written only at the end. */
export const eventColumns = `
  select e.seq, e.source, e.event_id, e.event_type, e.related_reference, e.processing_state, e.reason,
    e.received_at, e.processed_at, e.attempts, e.run, e.content_hash, e.erased_at, e.same_as,
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
    id: String(row.event_id),
    type: String(row.event_type),
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
    payload: row.payload_kept === 1 ? 'kept' : row.erased_at === null ? 'removed' : 'erased',
  }
}

/** `row` needs processing_state, token, next_at, attempt, base_attempt; the last four are null without a work row. */
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

export interface AttemptRow {
  readonly seq: number
  readonly attempt: number
  readonly run: number
  readonly worker: string
  readonly startedAt: number
  readonly finishedAt: number
  readonly outcome: AttemptOutcome
  readonly detail: string | null
}

const insertAttempt = `
  insert into hookonce_attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (seq, attempt) do nothing`

export function writeAttempt(connection: Connection, row: AttemptRow): void {
  const { seq, attempt, run, worker, startedAt, finishedAt, outcome, detail } = row
  connection.prepare(insertAttempt).run(seq, attempt, run, worker, startedAt, finishedAt, outcome, detail)
}

/**
 * Writes the attempt of an expired lease as lost. `work` needs run, and seq, token, next_at, attempt, worker and
 * claimed_at of a work row without a live lease. Does nothing when there was no lease.
 */
export function writeLostAttempt(connection: Connection, work: Row): void {
  if (work.token === null) return
  writeAttempt(connection, {
    seq: Number(work.seq),
    attempt: Number(work.attempt),
    run: Number(work.run),
    worker: String(work.worker),
    startedAt: Number(work.claimed_at),
    finishedAt: Number(work.next_at),
    outcome: 'lost',
    detail: null,
  })
}
