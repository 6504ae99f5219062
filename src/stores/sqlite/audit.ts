import type { Audit, AuditFilter, AuditPage, NewAudit } from '../../store.js'
import { decodeCursor, encodeCursor } from '../shared/list.js'
import type { Connection } from './connection.js'
import { rowsOf } from './rows.js'

const insert =
  'insert into hookonce_audit (at, actor, verb, source, event_id, note) values (?, ?, ?, ?, ?, ?)'

export function writeAudit(log: Connection, entry: NewAudit): void {
  const { actor, verb, source, eventId, note } = entry
  log.run(insert, log.now, actor, verb, source, eventId, note)
}

export function audit(log: Connection, entries: readonly NewAudit[]): void {
  log.write(() => {
    for (const entry of entries) writeAudit(log, entry)
  })
}

export interface AuditsArgs {
  readonly filter: AuditFilter
  readonly limit: number
  readonly cursor: string | null
}

const columns = 'select id, at, actor, verb, source, event_id as eventId, note from hookonce_audit'
const newest = `${columns} where id < ? order by id desc limit ?`
const newestOfEvent = `${columns} where event_id = ? and id < ? order by id desc limit ?`

const CHUNK = 256
const SCAN_AT_MOST = 10_000

export function audits(log: Connection, args: AuditsArgs): AuditPage {
  return log.read(() => readPage(log, args))
}

function readPage(log: Connection, { filter, limit, cursor }: AuditsArgs): AuditPage {
  const keys = filter.eventId === undefined ? [] : [filter.eventId]
  const sql = keys.length === 0 ? newest : newestOfEvent
  const found: Audit[] = []
  let next = cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
  for (let scanned = 0; scanned < SCAN_AT_MOST; ) {
    const chunk = Math.min(scanned === 0 ? limit + 1 : CHUNK, SCAN_AT_MOST - scanned)
    const rows = rowsOf<Audit>(log.all(sql, ...keys, next, chunk))
    for (const entry of rows) {
      if (!matches(entry, filter)) continue
      if (found.length === limit) return { audits: found, next: encodeCursor(found.at(-1)!.id) }
      found.push(entry)
    }
    if (rows.length < chunk) return { audits: found, next: null }
    scanned += rows.length
    next = rows.at(-1)!.id
  }
  return { audits: found, next: encodeCursor(next) }
}

function matches(entry: Audit, { source, actor, verb, from, to }: AuditFilter): boolean {
  return (
    (source === undefined || entry.source === source) &&
    (actor === undefined || entry.actor === actor) &&
    (verb === undefined || entry.verb === verb) &&
    (from === undefined || entry.at >= from) &&
    (to === undefined || entry.at < to)
  )
}
