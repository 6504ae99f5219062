/**
 * Where a list looks. The most selective filter names the index to walk, newest first: one or more walks, each once for
 * every key it has. The other filters are checked on the rows found.
 */
import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter } from '../../model.js'
import type { Database, Statement } from './database.js'
import { texts } from './parameters.js'

const adhoc = (sql: string): Statement => ({ name: '', sql })

/** With more (source, type) pairs than this, the log is walked as a whole. */
const PAIRS_AT_MOST = 256

/** `seq` of `table` where `where`; with keys once for each, as `k.a` and `k.b`. */
export interface Walk {
  readonly table: string
  readonly where: string
  readonly keys?: readonly (readonly [string, string?])[]
}

/** How many places are looked at in one step. */
export function placesOf(walks: readonly Walk[]): number {
  return walks.reduce((sum, { keys }) => sum + (keys?.length ?? 1), 0)
}

/** SQL for the next rows of every place: seqs below $1 and from $2 on, newest first, at most $3, numbered by `n`. */
export function reached(walks: readonly Walk[], value: (v: unknown) => string): string {
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

const log: Walk = { table: 'hookonce.events', where: 'true' }
const work: Walk = { table: 'hookonce.work', where: 'true' }

/** Null when nothing can match. */
export async function walksOf(db: Database, filter: EventFilter): Promise<Walk[] | null> {
  const { source, eventId, reference, state, dead, reason } = filter
  const sources = async () => (source === undefined ? await allSources(db) : [source])
  if (eventId !== undefined) {
    const keys = (await sources()).map((name) => [name, eventId] as const)
    return [{ table: 'hookonce.events', where: 't.source = k.a and t.event_id = k.b', keys }]
  }
  if (reference !== undefined)
    return [{ table: 'hookonce.events', where: 't.related_reference = k.a', keys: [[reference]] }]
  if (state === 'pending') return [work]
  if (state === 'processing') return [leased(await sources())]
  if (state === 'ignored') return [parked('ignored', await sources())]
  if (dead === true && (state === undefined || state === 'failed')) return [parked('dead', await sources())]
  if (state === 'failed' || (reason !== undefined && state === undefined)) {
    const names = await sources()
    const waiting = [retrying(names), leased(names)]
    if (dead === false) return waiting
    const over = state === 'failed' ? ['dead'] : ['dead', 'ignored']
    return [...waiting, ...over.map((list) => parked(list, names))]
  }
  if (filter.flagged)
    return [{ table: 'hookonce.events', where: '(t.same_as is not null or t.contests is not null)' }]
  if (filter.hasConflict) return [{ table: 'hookonce.duplicates', where: 't.conflicts > 0' }]
  if (filter.hasDuplicates) return [{ table: 'hookonce.duplicates', where: 'true' }]
  const pairs = await typePairs(db, filter)
  if (pairs === null) return [log]
  return pairs.length === 0
    ? null
    : [{ table: 'hookonce.events', where: 't.source = k.a and t.event_type = k.b', keys: pairs }]
}

function leased(sources: readonly string[]): Walk {
  return {
    table: 'hookonce.work',
    where: 't.source = k.a and t.token is not null',
    keys: sources.map((a) => [a]),
  }
}

function retrying(sources: readonly string[]): Walk {
  const where = 't.source = k.a and t.token is null and t.attempt > t.base_attempt'
  return { table: 'hookonce.work', where, keys: sources.map((a) => [a]) }
}

function parked(list: string, sources: readonly string[]): Walk {
  const where = `t.parked = '${list}' and t.source = k.a`
  return { table: 'hookonce.events', where, keys: sources.map((a) => [a]) }
}

async function allSources(db: Database): Promise<string[]> {
  const rows = await db.read<{ source: string }>(adhoc('select distinct source from hookonce.totals'), [])
  return rows.map((row) => row.source)
}

/**
 * The (source, type) pairs that exist and match, found by jumping from one to the next in the index, within the types
 * that begin as the pattern does. Null when the filter names neither, or there are too many to look at.
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
