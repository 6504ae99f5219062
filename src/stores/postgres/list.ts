/**
 * list: newest first. The most selective filter chooses the way in (an index, or a small table); the other filters
 * are checked on the rows found there. Rows are looked at in growing steps up to a bound, so that no filter makes a
 * call slow; a page cut by the bound says where to go on.
 */

import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter, EventPage } from '../../model.js'
import { decodeCursor, encodeCursor } from '../shared/cursor.js'
import { withDeadSaid } from '../shared/filter.js'
import type { Database, Statement } from './database.js'
import { texts } from './parameters.js'
import { getEvents } from './read.js'
import { stateOf } from './state.js'

const SCAN_AT_MOST = 50_000
/** With more (source, type) pairs than this, the log is walked as a whole. */
const PAIRS_AT_MOST = 256

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
  const way = await wayIn(db, filter)
  if (bounds === null || way === null) return { events: [], next: null }
  let below = Math.min(bounds.below, cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor))
  const seqs: number[] = []
  for (let scanned = 0, step = Math.max(4 * limit, 200); scanned < SCAN_AT_MOST; scanned += step, step *= 4) {
    const { sql, values } = page(way, filter, { below, from: bounds.from, step, want: limit - seqs.length })
    const [row] = await db.read<{ seqs: string[]; looked_at: number; last: number | null }>(
      adhoc(sql),
      values,
    )
    seqs.push(...row!.seqs.map(Number))
    if (seqs.length === limit) return { events: await getEvents(db, seqs), next: encodeCursor(seqs.at(-1)!) }
    if (row!.looked_at < step) return { events: await getEvents(db, seqs), next: null }
    below = row!.last!
  }
  return { events: await getEvents(db, seqs), next: encodeCursor(below) }
}

/** One step: the next `step` rows on the way in, and those of them that pass. */
function page(
  way: Way,
  filter: EventFilter,
  { below, from, step, want }: { below: number; from: number; step: number; want: number },
): { sql: string; values: unknown[] } {
  const values: unknown[] = [below, from, step, want]
  const value = (v: unknown) => `$${values.push(v)}`
  const candidates = way(value)
  return {
    sql: `
with candidate as materialized (${candidates}),
passed as (
  select c.seq from candidate c
  join hookonce.events e on e.seq = c.seq
  left join hookonce.work w on w.seq = c.seq
  left join hookonce.duplicates d on d.seq = c.seq
  where ${[...conditions(filter, value), 'true'].join('\n    and ')}
  order by c.seq desc limit $4
)
select array(select seq from passed order by seq desc) as seqs,
  (select count(*) from candidate)::int as looked_at, (select min(seq) from candidate) as last`,
    values,
  }
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

/** A way in gives seqs below $1 and from $2 on, newest first, at most $3. */
type Way = (value: (v: unknown) => string) => string

const stepDown = 'seq < $1 and seq >= $2 order by seq desc limit $3'

async function wayIn(db: Database, filter: EventFilter): Promise<Way | null> {
  const { source, eventId, reference, state, dead, type } = filter
  if (eventId !== undefined) {
    const sources = source === undefined ? await allSources(db) : [source]
    return (value) => `select seq from hookonce.events where source = any(${value(texts(sources))}::text[])
      and event_id = ${value(eventId)} and ${stepDown}`
  }
  if (reference !== undefined) {
    return (value) =>
      `select seq from hookonce.events where related_reference = ${value(reference)} and ${stepDown}`
  }
  const atWork: Way = () => `select seq from hookonce.work where ${stepDown}`
  if (state === 'pending' || state === 'processing' || (state === 'failed' && dead === false)) return atWork
  if (state === 'ignored' || state === 'failed') {
    const sources = source === undefined ? await allSources(db) : [source]
    const parked: Way = (value) => `
      select p.seq from unnest(${value(texts(sources))}::text[]) as s (source)
      cross join lateral (
        select seq from hookonce.events where parked = '${state === 'ignored' ? 'ignored' : 'dead'}' and source = s.source and ${stepDown}
      ) p order by p.seq desc limit $3`
    if (state === 'ignored' || dead === true) return parked
    return (value) =>
      `select seq from ((${parked(value)}) union all (${atWork(value)})) both_lists order by seq desc limit $3`
  }
  if (filter.flagged)
    return () =>
      `select seq from hookonce.events where (same_as is not null or contests is not null) and ${stepDown}`
  if (filter.hasConflict)
    return () => `select seq from hookonce.duplicates where conflicts > 0 and ${stepDown}`
  if (filter.hasDuplicates) return () => `select seq from hookonce.duplicates where ${stepDown}`
  if (source !== undefined || type !== undefined) {
    const pairs = await typePairs(db, source, type)
    if (pairs?.length === 0) return null
    if (pairs !== null)
      return (value) => `
      select e.seq from unnest(${value(texts(pairs.map((p) => p.source)))}::text[], ${value(texts(pairs.map((p) => p.event_type)))}::text[]) as t (source, event_type)
      cross join lateral (
        select seq from hookonce.events e where e.source = t.source and e.event_type = t.event_type and ${stepDown}
      ) e order by e.seq desc limit $3`
  }
  return () => `select seq from hookonce.events where ${stepDown}`
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

async function allSources(db: Database): Promise<string[]> {
  const rows = await db.read<{ source: string }>(
    adhoc(`with recursive hop as (
       (select source from hookonce.hours order by source limit 1)
       union all
       select (select h.source from hookonce.hours h where h.source > hop.source order by h.source limit 1)
       from hop where hop.source is not null
     )
     select source from hop where source is not null`),
    [],
  )
  return rows.map((row) => row.source)
}

/**
 * The (type, source) pairs that exist and match, found by jumping from one to the next in the index, within the types
 * that begin as the pattern does. Null when there are too many to look at.
 */
async function typePairs(
  db: Database,
  source: string | undefined,
  type: string | undefined,
): Promise<{ source: string; event_type: string }[] | null> {
  if (source !== undefined && type !== undefined && !isGlob(type)) return [{ source, event_type: type }]
  const exact = type !== undefined && !isGlob(type)
  const first = exact ? type : (type?.slice(0, type.indexOf('*')) ?? '')
  const pairs = await db.read<{ source: string; event_type: string }>(
    adhoc(`with recursive hop as (
       (select event_type, source from hookonce.events where event_type >= $1 order by event_type, source limit 1)
       union all
       select next.event_type, next.source from hop cross join lateral (
         select e.event_type, e.source from hookonce.events e
         where (e.event_type, e.source) > (hop.event_type, hop.source)
         order by e.event_type, e.source limit 1
       ) next
       where ${exact ? 'hop.event_type = $1' : 'starts_with(hop.event_type, $1)'}
     )
     select event_type, source from hop limit ${PAIRS_AT_MOST + 1}`),
    [first],
  )
  if (pairs.length > PAIRS_AT_MOST) return null
  return pairs.filter(
    (pair) =>
      (source === undefined || pair.source === source) &&
      (type === undefined || globMatches(type, pair.event_type)),
  )
}

function likePattern(glob: string): string {
  return glob.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%')
}
