import type { PruneOptions, PruneResult } from '../../store.js'
import { type PrunedLog, prune as pruneLog, type Swept } from '../shared/prune.js'
import { runBlocking } from '../shared/steps.js'
import { archivedSeqs, forgetReceipts } from './archive.js'
import { type Connection, perConnection } from './connection.js'
import type { Row } from './driver.js'
import { removeExpiredKeys } from './keys.js'
import { hourBook, seqRange } from './stats.js'

const placesOf = perConnection(() => new Map<string, number>())

export function prune(log: Connection, options: PruneOptions): PruneResult {
  const run = () => runBlocking(pruneLog(prunedLog(log, options), options))
  return options.dryRun ? log.read(run) : log.write(run)
}

function prunedLog(log: Connection, { source, archivedOnly }: PruneOptions): PrunedLog<Row> {
  const find: Record<Swept, string> = {
    payloads: archivedOnly ? findArchivedPayloads : findPayloads,
    events: archivedOnly ? findArchivedEvents : findEvents,
    attempts: findAttempts,
  }
  return {
    places: placesOf(log),
    range: (before) => seqRange(log, 0, before, source),
    find: (kind, ...window) => log.all(find[kind], source, ...window),
    remove(kind, rows) {
      if (kind === 'events') removeEvents(log, source, rows)
      else if (kind === 'payloads') for (const { seq } of rows) log.run(deletePayload, seq!)
      else for (const { seq, attempt } of rows) log.run(deleteAttempt, seq!, attempt!)
      return rows.length
    },
    removeReceipts: (before) => forgetReceipts(log, source, before),
    findAudits: (before, limit) => log.all(findAudits, before, source, limit).map(({ id }) => Number(id)),
    removeAudits(ids) {
      for (const id of ids) log.run(deleteAudit, id)
    },
    removeConflicts: (before, limit) => Number(log.run(clearConflicts, source, before, limit).changes),
    removeKeys: (limit) => removeExpiredKeys(log, limit),
  }
}

const deletePayload = 'delete from hookonce_payloads where seq = ?'
const deleteAttempt = 'delete from hookonce_attempts where seq = ? and attempt = ?'
const deleteAudit = 'delete from hookonce_audit where id = ?'
const clearConflicts = `
  update hookonce_conflicts set headers = null, body = null where (seq, hash) in (
    select seq, hash from hookonce_conflicts where source = ? and at < ? and body is not null limit ?)`
const findAudits = `
  select id from hookonce_audit where (source is null and at < ?1) or (source = ?2 and at < ?1) order by id limit ?3`

const deleteBySeq = ['events', 'attempts', 'effects', 'duplicates', 'conflicts', 'event_references'].map(
  (table) => `delete from hookonce_${table} where seq = ?`,
)
const deleteGuard = 'delete from hookonce_guards where source = ? and event_id = ?'
const deleteUnusedPayload = `
  delete from hookonce_payloads where seq = ?1
    and not exists (select 1 from hookonce_events where seq = ?1)
    and not exists (select 1 from hookonce_events where payload_seq = ?1)`
const removeEmptyHours = `
  delete from hookonce_hours where source = ? and recorded <= 0 and ignored = 0 and dead = 0`
// `tail` reads it to report a gap.
const raisePruned = `
  insert into hookonce_pruned (source, seq) values (?, ?)
  on conflict (source) do update set seq = max(seq, excluded.seq)`

function removeEvents(log: Connection, source: string, rows: readonly Row[]): void {
  const book = hourBook()
  for (const row of rows) {
    for (const sql of deleteBySeq) log.run(sql, row.seq!)
    log.run(deleteGuard, source, row.event_id!)
    log.run(deleteUnusedPayload, row.payload_seq!)
    const ignored = row.processing_state === 'ignored' ? -1 : 0
    book.add(source, Number(row.received_at), { recorded: -1, ignored })
  }
  log.run(raisePruned, source, rows.at(-1)!.seq!)
  book.write(log)
  log.run(removeEmptyHours, source)
}

// Rows of one window of the log that may be removed. ?1 source  ?2 before  ?3 from seq  ?4 to seq  ?5 limit.
// The `+` keeps the planner from using an index by source, which would read all events of the source for one window.

const finished = "('succeeded', 'ignored')"

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
  select e.seq, e.event_id, e.received_at, e.processing_state,
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
