/**
 * list: newest first. `list-walks.ts` says where to look; rows are looked at in growing steps up to a bound, so that no
 * filter makes a call slow; a page cut by the bound says so, and where to go on.
 */

import { isGlob } from '../../glob.js'
import type { EventFilter, EventPage } from '../../model.js'
import { decodeCursor, encodeCursor } from '../shared/cursor.js'
import { withDeadSaid } from '../shared/filter.js'
import type { Database, Statement } from './database.js'
import { placesOf, reached, type Walk, walksOf } from './list-walks.js'
import { getEvents } from './read.js'
import { stateOf } from './state.js'

/** Rows one call looks at, about: some 50 ms where they are in memory. */
const SCAN_AT_MOST = 10_000
/** Of each place at least so many rows in a step: fewer, and one busy place takes many steps. */
const PLACE_AT_LEAST = 8

const adhoc = (sql: string): Statement => ({ name: '', sql })

export async function listEvents(
  db: Database,
  given: EventFilter,
  limit: number,
  cursor: string | null,
): Promise<EventPage> {
  const filter = withDeadSaid(given)
  if (filter === null) return { events: [], next: null }
  const bounds = await seqBounds(db, filter)
  const walks = await walksOf(db, filter)
  if (bounds === null || walks === null || placesOf(walks) === 0) return { events: [], next: null }
  let below = Math.min(bounds.below, cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor))
  const seqs: number[] = []
  let step = Math.max(2 * limit, 200)
  for (let looked = 0; looked < SCAN_AT_MOST; step = Math.min(step * 4, SCAN_AT_MOST)) {
    const each = Math.max(PLACE_AT_LEAST, Math.ceil(step / placesOf(walks)))
    const found = await lookFurther(db, walks, filter, [below, bounds.from, each, limit - seqs.length])
    seqs.push(...found.seqs.map(Number))
    looked += found.looked_at
    if (seqs.length === limit) return { events: await getEvents(db, seqs), next: encodeCursor(seqs.at(-1)!) }
    if (found.floor === null) return { events: await getEvents(db, seqs), next: null }
    below = found.floor
  }
  return { events: await getEvents(db, seqs), next: encodeCursor(below), cut: true }
}

interface Found {
  readonly seqs: readonly string[]
  readonly looked_at: number
  /** Everything from here on has been looked at; null when there is nothing below. */
  readonly floor: number | null
}

/**
 * One step: the next rows of every place, and those of them that pass. Where a place has more rows than were read, what
 * lies below its last one is left for the next step, in every place, so that the order holds. The rows are joined by a
 * lateral look-up with a limit, which can only be done one by one through the primary key: left to choose, the planner
 * read the whole log for a filter that it believed to be a common one.
 */
async function lookFurther(
  db: Database,
  walks: readonly Walk[],
  filter: EventFilter,
  bounds: [below: number, from: number, each: number, want: number],
): Promise<Found> {
  const values: unknown[] = [...bounds]
  const value = (v: unknown) => `$${values.push(v)}`
  const rows = reached(walks, value)
  const checks = conditions(filter, value)
  const asks = (alias: string) => checks.some((check) => check.includes(`${alias}.`))
  const sql = `
with reached as materialized (${rows}
),
floor as materialized (select max(seq) filter (where n = $3) as seq from reached),
candidate as materialized (
  select distinct r.seq from reached r cross join floor f where r.seq >= coalesce(f.seq, 0)
),
passed as (
  select c.seq from candidate c
  cross join lateral (select * from hookonce.events e where e.seq = c.seq limit 1) e
  ${asks('w') ? 'left join lateral (select * from hookonce.work w where w.seq = c.seq limit 1) w on true' : ''}
  ${asks('d') ? 'left join lateral (select * from hookonce.duplicates d where d.seq = c.seq limit 1) d on true' : ''}
  where ${[...checks, 'true'].join('\n    and ')}
  order by c.seq desc limit $4
)
select array(select seq from passed order by seq desc) as seqs, (select count(*) from reached)::int as looked_at,
  (select seq from floor) as floor`
  return (await db.read<Found>(adhoc(sql), values))[0]!
}

function conditions(filter: EventFilter, value: (v: unknown) => string): string[] {
  const checks: string[] = []
  if (filter.source !== undefined) checks.push(`e.source = ${value(filter.source)}`)
  if (filter.eventId !== undefined) checks.push(`e.event_id = ${value(filter.eventId)}`)
  if (filter.type !== undefined) {
    checks.push(
      isGlob(filter.type)
        ? `e.event_type like ${value(likePattern(filter.type))}`
        : `e.event_type = ${value(filter.type)}`,
    )
  }
  if (filter.reference !== undefined) checks.push(`e.related_reference = ${value(filter.reference)}`)
  if (filter.state !== undefined) checks.push(`${stateOf} = ${value(filter.state)}`)
  if (filter.dead !== undefined) checks.push(`(e.parked is not distinct from 'dead') = ${value(filter.dead)}`)
  if (filter.reason !== undefined) {
    const reason = `case when w.seq is null then e.reason
      else (select a.detail from hookonce.attempts a where a.seq = e.seq and a.outcome = 'failed' order by a.attempt desc limit 1) end`
    checks.push(`${stateOf} in ('ignored', 'failed') and ${reason} = ${value(filter.reason)}`)
  }
  if (filter.from !== undefined)
    checks.push(`e.received_at >= to_timestamp(${value(filter.from)}::float8 / 1000)`)
  if (filter.to !== undefined) checks.push(`e.received_at < to_timestamp(${value(filter.to)}::float8 / 1000)`)
  if (filter.hasDuplicates !== undefined) checks.push(`(d.seq is not null) = ${value(filter.hasDuplicates)}`)
  if (filter.hasConflict !== undefined)
    checks.push(`(coalesce(d.conflicts, 0) > 0) = ${value(filter.hasConflict)}`)
  if (filter.flagged !== undefined)
    checks.push(`(coalesce(e.same_as, e.contests) is not null) = ${value(filter.flagged)}`)
  return checks
}

/** The counters know in which hours what was recorded, so a time range becomes a range of the primary key. */
async function seqBounds(
  db: Database,
  { from, to, source }: EventFilter,
): Promise<{ from: number; below: number } | null> {
  if (from === undefined && to === undefined) return { from: 0, below: Number.MAX_SAFE_INTEGER }
  const table = source === undefined ? 'hookonce.spans' : 'hookonce.hours'
  const [row] = await db.read<{ first: number | null; last: number | null }>(
    adhoc(`select min(first_seq) as first, max(last_seq) as last from ${table}
     where hour > to_timestamp($1::float8 / 1000) - interval '1 hour' and hour < to_timestamp($2::float8 / 1000)
       ${source === undefined ? '' : 'and source = $3'}`),
    [from ?? 0, to ?? 253_402_300_799_999, ...(source === undefined ? [] : [source])],
  )
  return row?.first == null || row.last == null ? null : { from: row.first, below: row.last + 1 }
}

function likePattern(glob: string): string {
  return glob.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%')
}
