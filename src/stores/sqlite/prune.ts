/**
 * Prune: removes payloads and events of one source that are finished and old enough, and results of keys that are past
 * their time. What still needs something, dead letters among it, is never touched (I7), nor are watermarks. Each call looks at a bounded stretch of the log and says whether
 * to call again, so that intake waits for one small transaction at a time.
 */
import type { PruneOptions, PruneResult } from '../../model.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { type HourBook, hourBook, seqRange } from './hours.js'
import { removeExpiredKeys } from './key.js'

/** How many seqs one query looks at, and how many of those one call makes. */
const WINDOW = 10_000
const WINDOWS = 5
/** At most so many removals of each kind in one transaction, whatever the caller's limit. */
const REMOVALS = 10_000

export function prune(connection: Connection, now: number, options: PruneOptions): PruneResult {
  const { source, payloadsBefore, eventsBefore, limit, dryRun = false } = options
  const sweep = (find: string, before: number | undefined, remove: (row: Row) => void) =>
    before === undefined
      ? { count: 0, more: false }
      : sweepLog(connection, { find, source, before, limit, dryRun, remove })
  const run = () => {
    const book = hourBook()
    const payloads = sweep(oldPayloads, payloadsBefore, (row) => removePayload(connection, row))
    const events = sweep(oldEvents, eventsBefore, (row) => removeEvent(connection, row, book))
    if (!dryRun && events.count > 0) {
      book.write(connection)
      connection.prepare(removeEmptyHours).run(source)
    }
    const keys = dryRun ? { more: false } : removeExpiredKeys(connection, now, Math.min(limit, REMOVALS))
    return {
      payloads: payloads.count,
      events: events.count,
      attempts: 0,
      audits: 0,
      more: payloads.more || events.more || keys.more,
    }
  }
  return dryRun ? connection.read(run) : connection.write(run)
}

interface Sweep {
  readonly find: string
  readonly source: string
  readonly before: number
  readonly limit: number
  readonly dryRun: boolean
  readonly remove: (row: Row) => void
}

function sweepLog(connection: Connection, sweep: Sweep): { count: number; more: boolean } {
  const { find, source, before, dryRun, remove } = sweep
  const limit = dryRun ? sweep.limit : Math.min(sweep.limit, REMOVALS)
  const range = seqRange(connection, 0, before, source)
  if (range === null) return { count: 0, more: false }
  const places = placesOf(connection)
  const place = JSON.stringify([find, source])
  const start = dryRun ? range.first : Math.max(range.first, places.get(place) ?? 0)
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = connection.prepare(find).all(source, before, from, from + WINDOW, limit - count + 1)
    const full = rows.length > limit - count
    if (full) rows.pop()
    count += rows.length
    if (!dryRun) rows.forEach(remove)
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call goes on here instead of walking again over what is already bare.
      if (!dryRun) places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) places.delete(place)
  return { count, more: false }
}

const finished = "('succeeded', 'ignored')"

// `+` keeps the planner off the indexes by source: they would walk all of a source for one stretch of the log.
// A payload may serve several events; it goes when none of them can still ask for it.
const oldPayloads = `
  select distinct p.seq
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
    and not exists (select 1 from hookonce_events o where o.seq = p.seq and o.processing_state not in ${finished})
    and not exists (select 1 from hookonce_events o where o.payload_seq = p.seq
      and o.processing_state not in ${finished})
  limit ?5`
const deletePayload = 'delete from hookonce_payloads where seq = ?'

function removePayload(connection: Connection, row: Row): void {
  connection.prepare(deletePayload).run(row.seq!)
}

const oldEvents = `
  select e.seq, e.source, e.event_id, e.received_at, e.processing_state, coalesce(e.payload_seq, e.seq) as payload_seq
  from hookonce_events e
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
  order by e.seq limit ?5`
const deleteBySeq = ['events', 'attempts', 'effects', 'duplicates'].map(
  (table) => `delete from hookonce_${table} where seq = ?`,
)
const deleteGuard = 'delete from hookonce_guards where source = ? and event_id = ?'
const deleteUnusedPayload = `
  delete from hookonce_payloads where seq = ?1
    and not exists (select 1 from hookonce_events where seq = ?1)
    and not exists (select 1 from hookonce_events where payload_seq = ?1)`

function removeEvent(connection: Connection, row: Row, book: HourBook): void {
  for (const sql of deleteBySeq) connection.prepare(sql).run(row.seq!)
  connection.prepare(deleteGuard).run(row.source!, row.event_id!)
  connection.prepare(deleteUnusedPayload).run(row.payload_seq!)
  const ignored = row.processing_state === 'ignored' ? -1 : 0
  book.add(String(row.source), Number(row.received_at), { recorded: -1, ignored })
}

const removeEmptyHours = `
  delete from hookonce_hours where source = ? and recorded <= 0 and ignored = 0 and dead = 0`

/** Where the pass over a source has got to. Forgotten when the pass ends, and by a restart: then it starts over. */
const passes = new WeakMap<Connection, Map<string, number>>()

function placesOf(connection: Connection): Map<string, number> {
  let places = passes.get(connection)
  if (places === undefined) {
    places = new Map()
    passes.set(connection, places)
  }
  return places
}
