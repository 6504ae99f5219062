/**
 * Prune: removes finished payloads, events, attempts and audits of one source that are old enough, and expired results of
 * keys. It never removes unfinished events, dead letters or watermarks. Each call reads a bounded part of the log and
 * returns whether to call again, so that intake waits for one small transaction at a time.
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import { archivedSeqs, forgetReceipts } from './archive.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { removeExpiredKeys } from './keys.js'
import { type HourBook, hourBook, seqRange } from './stats.js'

export function prune(log: Connection, options: PruneOptions): PruneResult {
  const { source, limit, archivedOnly, dryRun = false } = options
  const sweep = (find: string, before: number | undefined, remove: (row: Row) => void) =>
    before === undefined
      ? { count: 0, more: false }
      : sweepLog(log, { find, source, before, limit, dryRun, remove })
  const run = () => {
    const payloads = sweep(
      archivedOnly ? findArchivedPayloads : findPayloads,
      options.payloadsBefore,
      (row) => void log.run(deletePayload, row.seq!),
    )
    const events = pruneEvents(log, options, sweep)
    const attempts = sweep(
      findAttempts,
      options.attemptsBefore,
      (row) => void log.run(deleteAttempt, row.seq!, row.attempt!),
    )
    const audits = pruneAudits(log, options)
    const conflicts = dryRun ? { more: false } : removeConflicts(log, options)
    const keys = dryRun ? { more: false } : removeExpiredKeys(log, Math.min(limit, REMOVALS))
    return {
      payloads: payloads.count,
      events: events.count,
      attempts: attempts.count,
      audits: audits.count,
      more: [payloads, events, attempts, audits, conflicts, keys].some(({ more }) => more),
    }
  }
  return dryRun ? log.read(run) : log.write(run)
}

const deletePayload = 'delete from hookonce_payloads where seq = ?'
const deleteAttempt = 'delete from hookonce_attempts where seq = ? and attempt = ?'

interface Pruned {
  readonly count: number
  readonly more: boolean
}

function pruneEvents(
  log: Connection,
  { source, eventsBefore, archivedOnly, dryRun }: PruneOptions,
  sweep: (find: string, before: number | undefined, remove: (row: Row) => void) => Pruned,
): Pruned {
  const book = hourBook()
  let highest = 0
  const events = sweep(archivedOnly ? findArchivedEvents : findEvents, eventsBefore, (row) => {
    removeEvent(log, row, book)
    highest = Math.max(highest, Number(row.seq))
  })
  if (dryRun || eventsBefore === undefined) return events
  if (events.count > 0) {
    notePruned(log, source, highest)
    book.write(log)
    log.run(removeEmptyHours, source)
  }
  if (!events.more) forgetReceipts(log, source, eventsBefore)
  return events
}

const deleteBySeq = ['events', 'attempts', 'effects', 'duplicates', 'conflicts'].map(
  (table) => `delete from hookonce_${table} where seq = ?`,
)
const deleteGuard = 'delete from hookonce_guards where source = ? and event_id = ?'
const deleteUnusedPayload = `
  delete from hookonce_payloads where seq = ?1
    and not exists (select 1 from hookonce_events where seq = ?1)
    and not exists (select 1 from hookonce_events where payload_seq = ?1)`
const removeEmptyHours = `
  delete from hookonce_hours where source = ? and recorded <= 0 and ignored = 0 and dead = 0`

function removeEvent(log: Connection, row: Row, book: HourBook): void {
  for (const sql of deleteBySeq) log.run(sql, row.seq!)
  log.run(deleteGuard, row.source!, row.event_id!)
  log.run(deleteUnusedPayload, row.payload_seq!)
  const ignored = row.processing_state === 'ignored' ? -1 : 0
  book.add(String(row.source), Number(row.received_at), { recorded: -1, ignored })
}

const deleteConflicts = `
  delete from hookonce_conflicts where (seq, hash) in (
    select seq, hash from hookonce_conflicts where source = ? and at < ? limit ?)`

/** Deliveries with other content are as old as payloads may be. */
function removeConflicts(log: Connection, { source, payloadsBefore, limit }: PruneOptions) {
  if (payloadsBefore === undefined) return { more: false }
  const most = Math.min(limit, REMOVALS)
  const { changes } = log.run(deleteConflicts, source, payloadsBefore, most)
  return { more: Number(changes) >= most }
}

const findAudits = `
  select id from hookonce_audit where (source is null and at < ?1) or (source = ?2 and at < ?1) order by id limit ?3`
const deleteAudit = 'delete from hookonce_audit where id = ?'

function pruneAudits(log: Connection, { source, auditsBefore, limit, dryRun }: PruneOptions): Pruned {
  if (auditsBefore === undefined) return { count: 0, more: false }
  const most = dryRun ? limit : Math.min(limit, REMOVALS)
  const rows = log.all(findAudits, auditsBefore, source, most + 1)
  const more = rows.length > most
  if (more) rows.pop()
  if (!dryRun) for (const { id } of rows) log.run(deleteAudit, id!)
  return { count: rows.length, more }
}

// Queries for what may be removed from one window of the log. ?1 source  ?2 before  ?3 from seq  ?4 to seq  ?5 limit.
// The `+` keeps the planner from using an index by source, which would read all events of the source for one window.

const finished = "('succeeded', 'ignored')"

// A payload may belong to several events. It is removed when all of them are finished.
const oldPayloads = `
  select distinct p.seq
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
    and not exists (select 1 from hookonce_events o where o.seq = p.seq and o.processing_state not in ${finished})
    and not exists (select 1 from hookonce_events o where o.payload_seq = p.seq
      and o.processing_state not in ${finished})`

const findPayloads = `${oldPayloads} limit ?5`
const findArchivedPayloads = `${oldPayloads} and p.seq in (${archivedSeqs}) limit ?5`

const oldEvents = `
  select e.seq, e.source, e.event_id, e.received_at, e.processing_state,
    coalesce(e.payload_seq, e.seq) as payload_seq
  from hookonce_events e
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}`

const findEvents = `${oldEvents} order by e.seq limit ?5`
const findArchivedEvents = `${oldEvents}
  and (coalesce(e.payload_seq, e.seq) in (${archivedSeqs})
    or not exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)))
  order by e.seq limit ?5`

const findAttempts = `
  select a.seq, a.attempt from hookonce_events e join hookonce_attempts a on a.seq = e.seq
  where +e.source = ?1 and a.finished_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
  order by a.seq, a.attempt limit ?5`

/** How many seqs one query reads, and how many queries one call makes. */
const WINDOW = 10_000
const WINDOWS = 5
/** Most removals of each kind in one transaction, whatever the caller's limit. */
const REMOVALS = 10_000

interface Sweep {
  readonly find: string
  readonly source: string
  readonly before: number
  readonly limit: number
  readonly dryRun: boolean
  readonly remove: (row: Row) => void
}

/** Reads the log window by window, removes the rows found, and remembers where the next call continues. */
function sweepLog(log: Connection, sweep: Sweep): Pruned {
  const { find, source, before, dryRun, remove } = sweep
  const limit = dryRun ? sweep.limit : Math.min(sweep.limit, REMOVALS)
  const range = seqRange(log, 0, before, source)
  if (range === null) return { count: 0, more: false }
  const places = placesOf(log)
  const place = JSON.stringify([find, source])
  const start = dryRun ? range.first : Math.max(range.first, places.get(place) ?? 0)
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = log.all(find, source, before, from, from + WINDOW, limit - count + 1)
    const full = rows.length > limit - count
    if (full) rows.pop()
    count += rows.length
    if (!dryRun) rows.forEach(remove)
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call continues here and does not read the cleared windows again.
      if (!dryRun) places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) places.delete(place)
  return { count, more: false }
}

/** The position of the pass over each source. It is dropped when the pass ends; a restart begins a new pass. */
const passes = new WeakMap<Connection, Map<string, number>>()

function placesOf(log: Connection): Map<string, number> {
  let places = passes.get(log)
  if (places === undefined) {
    places = new Map()
    passes.set(log, places)
  }
  return places
}

const raisePruned = `
  insert into hookonce_pruned (source, seq) values (?, ?)
  on conflict (source) do update set seq = max(seq, excluded.seq)`

/** Stores the highest removed seq, so that `tail` can report a gap. Runs in the transaction that removes the events. */
function notePruned(log: Connection, source: string, seq: number): void {
  log.run(raisePruned, source, seq)
}
