/** Each needs a live lease. Settle writes the event's row once, when there is no next attempt. */
import type { Lease, Outcome, Settlement } from '../../model.js'
import { asRows } from '../shared/references.js'
import type { Connection } from './connection.js'
import { wakeLane } from './lane.js'
import { addReferences } from './references.js'
import { writeAttempt } from './rows.js'
import { type HourBook, hourBook } from './stats.js'

export function settle(log: Connection, settlements: readonly Settlement[]): boolean[] {
  return log.write(() => settleWithin(log, settlements))
}

export function settleWithin(log: Connection, settlements: readonly Settlement[]): boolean[] {
  const book = hourBook()
  const settled = settlements.map((settlement) => settleEvent(log, settlement, book))
  book.write(log)
  return settled
}

/** The write lock is held: nothing can change between this read and the writes below. */
const leasedEvent = `
  select w.attempt, w.worker, w.source, w.lane, e.run, e.received_at
  from hookonce_work w join hookonce_events e on e.seq = w.seq
  where w.seq = ? and w.token = ? and w.next_at > ?`
const retryLater = `
  update hookonce_work set token = null, worker = null, next_at = ? where seq = ?`
const removeWork = 'delete from hookonce_work where seq = ?'
const finishEvent = `
  update hookonce_events set processing_state = ?, reason = ?, processed_at = ?, attempts = ?, parked = ?
  where seq = ?`

function settleEvent(log: Connection, settlement: Settlement, book: HourBook): boolean {
  const { lease, outcome, durationMs } = settlement
  const row = log.get(leasedEvent, lease.seq, lease.token, log.now)
  if (row === undefined) return false
  const attempt = Number(row.attempt)
  const detail = detailOf(outcome)
  writeAttempt(log, {
    seq: lease.seq,
    attempt,
    run: Number(row.run),
    worker: String(row.worker),
    startedAt: log.now - Math.round(durationMs),
    finishedAt: log.now,
    outcome: outcome.kind,
    detail,
    place: (outcome.kind === 'failed' && outcome.place) || null,
  })
  if (outcome.kind === 'failed' && outcome.retryInMs !== null) {
    log.run(retryLater, log.now + Math.round(outcome.retryInMs), lease.seq)
    return true
  }
  const parked = parkedAs(outcome)
  if (outcome.kind !== 'failed') addReferences(log, lease.seq, asRows(settlement.references))
  log.run(removeWork, lease.seq)
  wakeLane(log, row)
  log.run(finishEvent, outcome.kind, detail, log.now, attempt, parked, lease.seq)
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

const extendLease = 'update hookonce_work set next_at = ? where seq = ? and token = ? and next_at > ?'

type ExtendArgs = { readonly leases: readonly Lease[]; readonly leaseMs: number }

export function extend(log: Connection, { leases, leaseMs }: ExtendArgs): boolean[] {
  return setNextAt(log, extendLease, leases, leaseMs)
}

const releaseLease = `
  update hookonce_work set attempt = attempt - 1, token = null, worker = null, next_at = ?
  where seq = ? and token = ? and next_at > ?`

type ReleaseArgs = { readonly leases: readonly Lease[]; readonly delayMs: number }

export function release(log: Connection, { leases, delayMs }: ReleaseArgs): boolean[] {
  return setNextAt(log, releaseLease, leases, delayMs)
}

function setNextAt(log: Connection, sql: string, leases: readonly Lease[], inMs: number): boolean[] {
  return log.write(() =>
    leases.map(({ seq, token }) => log.run(sql, log.now + inMs, seq, token, log.now).changes === 1),
  )
}
