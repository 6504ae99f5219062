/**
 * list: newest first. `walksOf` chooses the indexes; rows are read in growing steps up to a limit, so that no filter makes
 * a call slow. A page that ends at this limit has `cut` set, and a cursor to continue.
 */

import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter, EventPage } from '../../model.js'
import {
  decodeCursor,
  encodeCursor,
  indexesFor,
  type ListIndex,
  PAIRS_AT_MOST,
  type Portion,
  passBacklog,
  passesBacklog,
  withImpliedState,
} from '../shared/list.js'
import type { Database } from './connection/database.js'
import { adhoc, texts } from './connection/statement.js'
import { seqRange } from './hours.js'
import { getEvents, reasonOf } from './read.js'
import { stateOf } from './work.js'

/** About the most rows that one call reads: some 50 ms when they are in memory. */
const SCAN_AT_MOST = 10_000
/** With fewer rows of each key in a step, a key with many rows would take many steps. */
const KEY_AT_LEAST = 8

export async function listEvents(
  db: Database,
  input: EventFilter,
  limit: number,
  cursor: string | null,
): Promise<EventPage> {
  const filter = withImpliedState(input)
  if (filter === null) return { events: [], next: null }
  const bounds = await seqBounds(db, filter)
  const walks = await walksOf(db, filter)
  if (bounds === null || keyCount(walks) === 0) return { events: [], next: null }
  let below = Math.min(bounds.below, cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor))
  const seqs: number[] = []
  let step = Math.max(2 * limit, 200)
  let mayPass = passesBacklog(filter)
  for (let looked = 0; looked < SCAN_AT_MOST; step = Math.min(step * 4, SCAN_AT_MOST)) {
    const each = Math.max(KEY_AT_LEAST, Math.ceil(step / keyCount(walks)))
    const found = await lookFurther(db, walks, filter, [below, bounds.from, each, limit - seqs.length])
    seqs.push(...found.seqs.map(Number))
    looked += found.looked_at
    if (seqs.length === limit) return { events: await getEvents(db, seqs), next: encodeCursor(seqs.at(-1)!) }
    if (found.floor === null) return { events: await getEvents(db, seqs), next: null }
    below = found.floor
    if (found.seqs.length === 0 && mayPass) {
      below = await belowBacklog(db, below, bounds.from)
      mayPass = false
    }
  }
  return { events: await getEvents(db, seqs), next: encodeCursor(below), cut: true }
}

/** $1 below   $2 from   $3 how many. Two ranges of primary keys: a join would look up each row. */
const countPortion = adhoc(`
with portion as materialized (
  select count(*)::int as events, min(seq) as lowest from (
    select seq from hookonce.events where seq < $1 and seq >= $2 order by seq desc limit $3
  ) e
)
select events, lowest, (
  select count(*)::int from hookonce.work w where w.seq < $1 and w.seq >= (select lowest from portion)
) as waiting from portion`)

async function belowBacklog(db: Database, below: number, from: number): Promise<number> {
  const search = passBacklog(below)
  for (let next = search.next(); ; ) {
    if (next.done) return next.value
    const [portion] = await db.read<Portion>(countPortion, [next.value.below, from, next.value.size])
    next = search.next(portion!)
  }
}

interface Found {
  readonly seqs: readonly string[]
  readonly looked_at: number
  /** All rows from this seq upwards were read; null when there are none below it. */
  readonly floor: number | null
}

/**
 * One step: reads the next rows of every key and returns those that match. When a key has more rows than were read, rows
 * below its last one are left for the next step, for every key, so that the order is right. Each row is joined by a
 * lateral look-up with a limit, which PostgreSQL can only run row by row through the primary key: with a plain join the
 * planner read the whole log for a filter that it expected to match many rows.
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
  if (filter.id !== undefined) checks.push(`e.event_id = ${value(filter.id)}`)
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
  if (filter.reason !== undefined || filter.reasonLike !== undefined) {
    checks.push(`${stateOf} in ('ignored', 'failed')`)
    if (filter.reason !== undefined) checks.push(`${reasonOf} = ${value(filter.reason)}`)
    if (filter.reasonLike !== undefined)
      checks.push(`${reasonOf} like ${value(likePattern(filter.reasonLike))}`)
  }
  if (filter.minAttempts !== undefined)
    checks.push(`coalesce(w.attempt, (select max(a.attempt) from hookonce.attempts a where a.seq = e.seq), e.attempts, 0)
      >= ${value(filter.minAttempts)}`)
  if (filter.from !== undefined)
    checks.push(`e.received_at >= to_timestamp(${value(filter.from)}::float8 / 1000)`)
  if (filter.to !== undefined) checks.push(`e.received_at < to_timestamp(${value(filter.to)}::float8 / 1000)`)
  if (filter.hasDuplicates !== undefined) checks.push(`(d.seq is not null) = ${value(filter.hasDuplicates)}`)
  if (filter.hasConflict !== undefined)
    checks.push(`(coalesce(d.conflicts, 0) > 0) = ${value(filter.hasConflict)}`)
  if (filter.flagged !== undefined) checks.push(`(e.same_as is not null) = ${value(filter.flagged)}`)
  return checks
}

/** A time range becomes a range of the primary key. */
async function seqBounds(
  db: Database,
  { from, to, source }: EventFilter,
): Promise<{ from: number; below: number } | null> {
  if (from === undefined && to === undefined) return { from: 0, below: Number.MAX_SAFE_INTEGER }
  const range = await seqRange(db.read, from ?? 0, to ?? 253_402_300_799_999, source)
  return range && { from: range.first, below: range.last + 1 }
}

function likePattern(glob: string): string {
  return glob.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%')
}

/** A range of an index, read newest first: the rows of `table` that match `where`, for each key as `k.a` and `k.b`. */
interface Walk {
  readonly table: string
  readonly where: string
  readonly keys?: readonly Key[]
}

type Key = readonly [a: string, b?: string | undefined]

/** A walk without keys counts as one. */
function keyCount(walks: readonly Walk[]): number {
  return walks.reduce((sum, { keys }) => sum + (keys?.length ?? 1), 0)
}

/** SQL for the next rows of every key: seqs from $2 to below $1, newest first, at most $3, numbered by `n`. */
function reached(walks: readonly Walk[], value: (v: unknown) => string): string {
  return walks
    .map(({ table, where, keys }) => {
      const rows = `
  select q.seq, row_number() over (order by q.seq desc) as n from (
    select t.seq from ${table} t where ${where} and t.seq < $1 and t.seq >= $2 order by t.seq desc limit $3
  ) q`
      if (keys === undefined) return rows
      const columns = [keys.map(([a]) => a), keys.map(([, b]) => b ?? null)]
      return `
  select p.seq, p.n from unnest(${columns.map((column) => `${value(texts(column))}::text[]`).join(', ')}) as k (a, b)
  cross join lateral (${rows}) p`
    })
    .join('\n  union all')
}

const events = 'hookonce.events'
const work = 'hookonce.work'
const duplicates = 'hookonce.duplicates'
const ranges: Readonly<Record<ListIndex, Walk>> = {
  key: { table: events, where: 't.source = k.a and t.event_id = k.b' },
  reference: { table: events, where: 't.related_reference = k.a' },
  work: { table: work, where: 'true' },
  leased: { table: work, where: 't.source = k.a and t.token is not null' },
  retrying: { table: work, where: 't.source = k.a and t.token is null and t.attempt > t.base_attempt' },
  ignored: { table: events, where: "t.parked = 'ignored' and t.source = k.a" },
  dead: { table: events, where: "t.parked = 'dead' and t.source = k.a" },
  flagged: { table: events, where: 't.same_as is not null' },
  conflicts: { table: duplicates, where: 't.conflicts > 0' },
  duplicates: { table: duplicates, where: 'true' },
  types: { table: events, where: 't.source = k.a and t.event_type = k.b' },
}

const bySource: readonly ListIndex[] = ['key', 'leased', 'retrying', 'ignored', 'dead']

async function walksOf(db: Database, filter: EventFilter): Promise<Walk[]> {
  const { id, reference } = filter
  const indexes = indexesFor(filter)
  if (indexes.includes('types')) {
    const keys = await typePairs(db, filter)
    return [keys === null ? { table: events, where: 'true' } : { ...ranges.types, keys }]
  }
  if (reference !== undefined && indexes.includes('reference'))
    return [{ ...ranges.reference, keys: [[reference]] }]
  if (!indexes.every((index) => bySource.includes(index))) return indexes.map((index) => ranges[index])
  const keys = (await sourcesOf(db, filter)).map((name): Key => [name, id])
  return indexes.map((index) => ({ ...ranges[index], keys }))
}

async function sourcesOf(db: Database, { source }: EventFilter): Promise<string[]> {
  if (source !== undefined) return [source]
  const rows = await db.read<{ source: string }>(adhoc('select distinct source from hookonce.totals'), [])
  return rows.map((row) => row.source)
}

/**
 * Reads the (source, type) pairs that exist and match, by one index look-up for each pair, within the types that begin
 * with the prefix of the pattern. Null when the filter has neither source nor type, or when there are too many pairs.
 */
async function typePairs(db: Database, { source, type }: EventFilter): Promise<[string, string][] | null> {
  if (source === undefined && type === undefined) return null
  const exact = type !== undefined && !isGlob(type)
  if (source !== undefined && exact) return [[source, type]]
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
  return pairs
    .filter(
      (pair) =>
        (source === undefined || pair.source === source) &&
        (type === undefined || globMatches(type, pair.event_type)),
    )
    .map((pair) => [pair.source, pair.event_type])
}
