/**
 * Prune: removes payloads, events, attempts and audits of one source that are finished and old enough, and results of
 * keys that are past their time. What still needs something, dead letters among it, is never touched (I7), nor are
 * watermarks. Each call looks at a bounded stretch of the log and says whether to call again, so that intake waits for
 * one small transaction at a time.
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import { forgetArchived } from './archived.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { type HourBook, hourBook } from './hours.js'
import { removeExpiredKeys } from './key.js'
import {
  findArchivedEvents,
  findArchivedPayloads,
  findAttempts,
  findEvents,
  findPayloads,
} from './prune-find.js'
import { notePruned } from './pruned.js'
import { REMOVALS, sweepLog } from './sweep.js'
import { leaveTombstone, removeTombstones } from './tombstones.js'

export function prune(connection: Connection, now: number, options: PruneOptions): PruneResult {
  const { source, limit, archivedOnly, dryRun = false } = options
  const sweep = (find: string, before: number | undefined, remove: (row: Row) => void) =>
    before === undefined
      ? { count: 0, more: false }
      : sweepLog(connection, { find, source, before, limit, dryRun, remove })
  const run = () => {
    const payloads = sweep(
      archivedOnly ? findArchivedPayloads : findPayloads,
      options.payloadsBefore,
      (row) => void connection.prepare(deletePayload).run(row.seq!),
    )
    const events = pruneEvents(connection, now, options, sweep)
    const attempts = sweep(
      findAttempts,
      options.attemptsBefore,
      (row) => void connection.prepare(deleteAttempt).run(row.seq!, row.attempt!),
    )
    const audits = pruneAudits(connection, options)
    const graves = dryRun ? { more: false } : removeTombstones(connection, options)
    const keys = dryRun ? { more: false } : removeExpiredKeys(connection, now, Math.min(limit, REMOVALS))
    return {
      payloads: payloads.count,
      events: events.count,
      attempts: attempts.count,
      audits: audits.count,
      more: [payloads, events, attempts, audits, graves, keys].some(({ more }) => more),
    }
  }
  return dryRun ? connection.read(run) : connection.write(run)
}

const deletePayload = 'delete from hookonce_payloads where seq = ?'
const deleteAttempt = 'delete from hookonce_attempts where seq = ? and attempt = ?'

interface Part {
  readonly count: number
  readonly more: boolean
}

function pruneEvents(
  connection: Connection,
  now: number,
  { source, eventsBefore, archivedOnly, dryRun, tombstones }: PruneOptions,
  sweep: (find: string, before: number | undefined, remove: (row: Row) => void) => Part,
): Part {
  const book = hourBook()
  let highest = 0
  const events = sweep(archivedOnly ? findArchivedEvents : findEvents, eventsBefore, (row) => {
    if (tombstones) leaveTombstone(connection, now, row)
    removeEvent(connection, row, book)
    highest = Math.max(highest, Number(row.seq))
  })
  if (dryRun || eventsBefore === undefined) return events
  if (events.count > 0) {
    notePruned(connection, source, highest)
    book.write(connection)
    connection.prepare(removeEmptyHours).run(source)
  }
  if (!events.more) forgetArchived(connection, source, eventsBefore)
  return events
}

const deleteBySeq = ['events', 'attempts', 'effects', 'duplicates'].map(
  (table) => `delete from hookonce_${table} where seq = ?`,
)
const deleteGuard = 'delete from hookonce_guards where source = ? and event_id = ? and retired_at is null'
const deleteUnusedPayload = `
  delete from hookonce_payloads where seq = ?1
    and not exists (select 1 from hookonce_events where seq = ?1)
    and not exists (select 1 from hookonce_events where payload_seq = ?1)`
const removeEmptyHours = `
  delete from hookonce_hours where source = ? and recorded <= 0 and ignored = 0 and dead = 0`

function removeEvent(connection: Connection, row: Row, book: HourBook): void {
  for (const sql of deleteBySeq) connection.prepare(sql).run(row.seq!)
  connection.prepare(deleteGuard).run(row.source!, row.event_id!)
  connection.prepare(deleteUnusedPayload).run(row.payload_seq!)
  const ignored = row.processing_state === 'ignored' ? -1 : 0
  book.add(String(row.source), Number(row.received_at), { recorded: -1, ignored })
}

const findAudits = `
  select id from hookonce_audit where at < ?1 and (source is null or source = ?2) order by id limit ?3`
const deleteAudit = 'delete from hookonce_audit where id = ?'

function pruneAudits(connection: Connection, { source, auditsBefore, limit, dryRun }: PruneOptions): Part {
  if (auditsBefore === undefined) return { count: 0, more: false }
  const most = dryRun ? limit : Math.min(limit, REMOVALS)
  const rows = connection.prepare(findAudits).all(auditsBefore, source, most + 1)
  const more = rows.length > most
  if (more) rows.pop()
  if (!dryRun) for (const { id } of rows) connection.prepare(deleteAudit).run(id!)
  return { count: rows.length, more }
}
