/** Rows of `attempts`: how each attempt ended. */
import type { AttemptOutcome } from '../../store.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'

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

const insert = `
  insert into hookonce_attempts (seq, attempt, run, worker, started_at, finished_at, outcome, detail)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (seq, attempt) do nothing`

export function writeAttempt(connection: Connection, row: AttemptRow): void {
  const { seq, attempt, run, worker, startedAt, finishedAt, outcome, detail } = row
  connection.prepare(insert).run(seq, attempt, run, worker, startedAt, finishedAt, outcome, detail)
}

/**
 * The attempt of a lease that ran out with no word from its worker. Needs seq, token, next_at, attempt, worker and
 * claimed_at of a work row whose lease is not alive, and run; does nothing when there was no lease.
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
