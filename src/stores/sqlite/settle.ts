/** Settle: writes outcomes, each only under a live lease. The ledger is written once, when the event needs no more. */
import type { Outcome, Settlement } from '../../model.js'
import { writeAttempt } from './attempt-rows.js'
import type { Connection } from './connection.js'
import { type HourBook, hourBook } from './hours.js'
import { wakeLane } from './lane.js'

export function settle(connection: Connection, now: number, settlements: readonly Settlement[]): boolean[] {
  return connection.write(() => settleWithin(connection, now, settlements))
}

/** The same inside a transaction that is already open: a handler's. */
export function settleWithin(
  connection: Connection,
  now: number,
  settlements: readonly Settlement[],
): boolean[] {
  const book = hourBook()
  const settled = settlements.map((settlement) => settleOne(connection, now, settlement, book))
  book.write(connection)
  return settled
}

/** The fence (I4). Under the write lock nothing can change between this look and the writes below. */
const leased = `
  select w.attempt, w.worker, w.source, w.lane, e.run, e.received_at
  from hookonce_work w join hookonce_events e on e.seq = w.seq
  where w.seq = ? and w.token = ? and w.next_at > ?`
const retryLater = `
  update hookonce_work set token = null, worker = null, next_at = ? where seq = ?`
const removeWork = 'delete from hookonce_work where seq = ?'
const finishEvent = `
  update hookonce_events set processing_state = ?, reason = ?, processed_at = ?, attempts = ?, parked = ?
  where seq = ?`

function settleOne(connection: Connection, now: number, settlement: Settlement, book: HourBook): boolean {
  const { lease, outcome, durationMs } = settlement
  const row = connection.prepare(leased).get(lease.seq, lease.token, now)
  if (row === undefined) return false
  const attempt = Number(row.attempt)
  const detail = detailOf(outcome)
  writeAttempt(connection, {
    seq: lease.seq,
    attempt,
    run: Number(row.run),
    worker: String(row.worker),
    startedAt: now - Math.round(durationMs),
    finishedAt: now,
    outcome: outcome.kind,
    detail,
  })
  if (outcome.kind === 'failed' && outcome.retryInMs !== null) {
    connection.prepare(retryLater).run(now + Math.round(outcome.retryInMs), lease.seq)
    return true
  }
  const parked = parkedAs(outcome)
  connection.prepare(removeWork).run(lease.seq)
  wakeLane(connection, now, row)
  connection.prepare(finishEvent).run(outcome.kind, detail, now, attempt, parked, lease.seq)
  if (parked !== null) book.add(String(row.source), Number(row.received_at), { [parked]: 1 })
  return true
}

function detailOf(outcome: Outcome): string | null {
  if (outcome.kind === 'succeeded') return null
  return outcome.kind === 'ignored' ? outcome.reason : outcome.error
}

function parkedAs(outcome: Outcome): 'ignored' | 'dead' | null {
  if (outcome.kind === 'succeeded') return null
  return outcome.kind === 'ignored' ? 'ignored' : 'dead'
}
