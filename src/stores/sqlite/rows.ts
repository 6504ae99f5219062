import type { EventRecord } from '../../model.js'
import type { AttemptOutcome } from '../../store.js'
import { asRecord, type EventRow } from '../shared/event-record.js'
import type { Connection } from './connection.js'
import type { Row, SqliteValue } from './driver.js'
import { referenceRows } from './references.js'
import { shownFirst } from './swap-content.js'

/**
 * The state of `events e left join work w` (docs/decisions/0001-tables.md, first table). `now` names a parameter. An attempt
 * whose lease has expired was counted, but did not fail: after the first one the event is pending.
 */
export const stateAt = (now: string): string => `case
    when w.seq is null then e.processing_state
    when w.token is not null and w.next_at > ${now} then 'processing'
    when w.attempt - w.base_attempt > (w.token is not null) then 'failed'
    else 'pending' end`

export const hexOf = (column: string): string => `nullif(lower(hex(${column})), '')`

/** The condition that nobody has decided about the other content of an event. */
export const hasOpenConflict =
  'exists (select 1 from hookonce_conflicts c where c.seq = e.seq and c.decided_at is null)'

/** The error of a retrying event is read from `attempts`, because the row in `events` is written only at the end. */
export const lastError = `case when w.seq is null then e.reason else (
      select a.detail from hookonce_attempts a
      where a.seq = e.seq and a.outcome = 'failed' order by a.attempt desc limit 1) end`

/** Selects an `EventRow`. `now` names a parameter. */
export const eventColumns = (now: string): string => `
  select e.seq, e.source, e.event_id as id, e.event_type as type, e.related_reference as reference, e.reference_label,
    ${referenceRows} as other_references, ${stateAt(now)} as state,
    ${lastError} as reason,
    e.received_at as receivedAt, e.processed_at as processedAt, coalesce(w.attempt, e.attempts) as attempts, e.run,
    case when w.token is null or w.next_at <= ${now} then w.next_at end as nextAttemptAt,
    1 + coalesce(d.count, 0) as deliveries, coalesce(d.conflicts, 0) as conflicts,
    coalesce(d.last_at, e.received_at) as lastDeliveryAt, c.at as conflict_at, ${hexOf('c.hash')} as conflict_hash,
    c.decided_at,
    ${hexOf('e.content_hash')} as contentHash, e.same_as as sameAs,
    coalesce(e.origin, 'delivery') as origin,
    case
      when exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)) then 'kept'
      when e.erased_at is null then 'removed' else 'erased' end as payload
  from hookonce_events e
  left join hookonce_work w on w.seq = e.seq
  left join hookonce_duplicates d on d.seq = e.seq
  left join hookonce_conflicts c on c.seq = e.seq and c.hash = (
    select c.hash from hookonce_conflicts c where c.seq = e.seq and d.conflicts > 0 order by ${shownFirst} limit 1)`

export function recordsOf(rows: readonly Row[]): EventRecord[] {
  return rowsOf<EventRow>(rows).map(asRecord)
}

export function rowsOf<T>(rows: readonly Row[]): T[] {
  return rows as unknown as T[]
}

export function withHeaders<T extends { readonly headers: unknown }>(row: Row): T {
  return { ...row, headers: JSON.parse(String(row.headers)) } as unknown as T
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
  readonly place: string | null
}

const insertAttempt = `
  insert into hookonce_attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail, place)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (seq, attempt) do nothing`

export function writeAttempt(log: Connection, row: AttemptRow): void {
  const { seq, attempt, run, worker, startedAt, finishedAt, outcome, detail, place } = row
  log.run(insertAttempt, seq, attempt, run, worker, startedAt, finishedAt, outcome, detail, place)
}

/** `work` needs `run` and has no live lease. Writes the attempt of an expired lease, if there was one. */
export function writeLostAttempt(log: Connection, work: Row): void {
  if (work.token === null) return
  writeAttempt(log, {
    seq: Number(work.seq),
    attempt: Number(work.attempt),
    run: Number(work.run),
    worker: String(work.worker),
    startedAt: Number(work.claimed_at),
    finishedAt: Number(work.next_at),
    outcome: 'lost',
    detail: null,
    place: null,
  })
}
