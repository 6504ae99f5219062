/** Actions on the log, with their actor. One call reads a limited number of rows. */
import type { Audit, AuditFilter, AuditPage, NewAudit } from '../../store.js'
import { decodeCursor, encodeCursor } from '../shared/list.js'
import type { Database } from './connection/database.js'
import { adhoc, type Run, statement, texts } from './connection/statement.js'

/** $1-$5 actors, verbs, sources, event ids, notes */
const write = statement('audit')`
insert into hookonce.audit (at, actor, verb, source, event_id, note)
select hookonce.clock(), actor, verb, source, event_id, note
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  with ordinality as e (actor, verb, source, event_id, note, n)
order by n`

export async function writeAudits(run: Run, entries: readonly NewAudit[]): Promise<void> {
  await run(write, [
    texts(entries.map((entry) => entry.actor)),
    texts(entries.map((entry) => entry.verb)),
    texts(entries.map((entry) => entry.source)),
    texts(entries.map((entry) => entry.eventId)),
    texts(entries.map((entry) => entry.note)),
  ])
}

const SCAN_AT_MOST = 50_000

type Row = Audit & { id: number | null; looked_at: number; last: number }

export async function listAudits(
  db: Database,
  filter: AuditFilter,
  limit: number,
  cursor: string | null,
): Promise<AuditPage> {
  let below = cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
  const audits: Audit[] = []
  for (let scanned = 0, step = Math.max(4 * limit, 200); scanned < SCAN_AT_MOST; scanned += step, step *= 4) {
    // One more than the page shows that there is a next page.
    const { sql, values } = page(filter, below, step, limit + 1 - audits.length)
    const rows = await db.read<Row>(adhoc(sql), values)
    audits.push(...rows.flatMap(asAudit))
    if (audits.length > limit) {
      audits.pop()
      return { audits, next: encodeCursor(audits.at(-1)!.id) }
    }
    if (rows[0]!.looked_at < step) return { audits, next: null }
    below = rows[0]!.last
  }
  return { audits, next: encodeCursor(below) }
}

/** Returns the matching rows of the next lower ids, and always at least one row. */
function page(filter: AuditFilter, below: number, step: number, want: number) {
  const values: unknown[] = [below, step, want]
  const value = (v: unknown) => `$${values.push(v)}`
  const { source, eventId, actor, verb, from, to } = filter
  const indexed = eventId === undefined ? '' : `event_id = ${value(eventId)} and`
  const checks = ['true']
  if (source !== undefined) checks.push(`source = ${value(source)}`)
  if (actor !== undefined) checks.push(`actor = ${value(actor)}`)
  if (verb !== undefined) checks.push(`verb = ${value(verb)}`)
  if (from !== undefined) checks.push(`at >= to_timestamp(${value(from)}::float8 / 1000)`)
  if (to !== undefined) checks.push(`at < to_timestamp(${value(to)}::float8 / 1000)`)
  return {
    values,
    sql: `
with looked as materialized (
  select * from hookonce.audit where ${indexed} id < $1 order by id desc limit $2
),
passed as (
  select * from looked where ${checks.join(' and ')} order by id desc limit $3
)
select p.id, p.at, p.actor, p.verb, p.source, p.event_id as "eventId", p.note, l.looked_at, l.last
from (select count(*)::int as looked_at, min(id) as last from looked) l left join passed p on true
order by p.id desc`,
  }
}

function asAudit({ looked_at: _, last: __, ...audit }: Row): Audit[] {
  return audit.id === null ? [] : [audit]
}
