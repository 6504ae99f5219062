/** The audit: who did what to the log. Read newest first; each call looks at a bounded number of rows. */
import type { Audit, AuditFilter, AuditPage, NewAudit } from '../../store.js'
import { encodeCursor } from '../shared/cursor.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { textOrNull } from './event-row.js'

const insert =
  'insert into hookonce_audit (at, actor, verb, source, event_id, reason) values (?, ?, ?, ?, ?, ?)'

/** Inside whatever transaction is open. */
export function writeAudit(connection: Connection, now: number, entry: NewAudit): void {
  const { actor, verb, source, eventId, reason } = entry
  connection.prepare(insert).run(now, actor, verb, source, eventId, reason)
}

export function audit(connection: Connection, now: number, entries: readonly NewAudit[]): void {
  connection.write(() => {
    for (const entry of entries) writeAudit(connection, now, entry)
  })
}

export interface AuditsArgs {
  readonly filter: AuditFilter
  readonly limit: number
  /** Only audits with a smaller id: the decoded cursor. */
  readonly below: number | null
  readonly scanLimit: number
}

const columns = 'select id, at, actor, verb, source, event_id, reason from hookonce_audit'
const newest = `${columns} where id < ? order by id desc limit ?`
const newestOfEvent = `${columns} where event_id = ? and id < ? order by id desc limit ?`

/** How many rows are read at once while looking for matches. */
const CHUNK = 256

export function audits(connection: Connection, _now: number, args: AuditsArgs): AuditPage {
  return connection.read(() => look(connection, args))
}

function look(connection: Connection, { filter, limit, below, scanLimit }: AuditsArgs): AuditPage {
  const way = filter.eventId === undefined ? [] : [filter.eventId]
  const statement = connection.prepare(way.length === 0 ? newest : newestOfEvent)
  const found: Audit[] = []
  let next = below ?? Number.MAX_SAFE_INTEGER
  for (let looked = 0; looked < scanLimit; ) {
    const chunk = Math.min(looked === 0 ? limit + 1 : CHUNK, scanLimit - looked)
    const rows = statement.all(...way, next, chunk).map(toAudit)
    for (const one of rows) {
      if (!matches(one, filter)) continue
      // One match beyond the page is what proves that there is a next one.
      if (found.length === limit) return { audits: found, next: encodeCursor(found.at(-1)!.id) }
      found.push(one)
    }
    if (rows.length < chunk) return { audits: found, next: null }
    looked += rows.length
    next = rows.at(-1)!.id
  }
  return { audits: found, next: encodeCursor(next) }
}

function toAudit(row: Row): Audit {
  return {
    id: Number(row.id),
    at: Number(row.at),
    actor: String(row.actor),
    verb: String(row.verb),
    source: textOrNull(row.source),
    eventId: textOrNull(row.event_id),
    reason: String(row.reason),
  }
}

function matches(one: Audit, { source, actor, verb, from, to }: AuditFilter): boolean {
  return (
    (source === undefined || one.source === source) &&
    (actor === undefined || one.actor === actor) &&
    (verb === undefined || one.verb === verb) &&
    (from === undefined || one.at >= from) &&
    (to === undefined || one.at < to)
  )
}
