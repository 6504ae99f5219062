import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter, EventPage } from '../../model.js'
import {
  conditionsOf,
  type ListIndex,
  type Looked,
  type LookStep,
  listEvents as listLog,
  PAIRS_AT_MOST,
  type Portion,
  type Walk,
} from '../shared/list.js'
import { runAwaiting } from '../shared/steps.js'
import type { Database } from './connection/database.js'
import { adhoc, texts } from './connection/statement.js'
import { seqRange } from './hours.js'
import { getEvents, reasonOf } from './read.js'
import { hasReference } from './references.js'
import { hasOpenConflict, stateOf } from './work.js'

const knownSources = adhoc('select distinct source from hookonce.totals')

export function listEvents(
  db: Database,
  filter: EventFilter,
  limit: number,
  cursor: string | null,
): Promise<EventPage> {
  const log = {
    range: (from: number, to: number, source?: string) => seqRange(db.read, from, to, source),
    sources: async () => (await db.read<{ source: string }>(knownSources, [])).map((row) => row.source),
    pairs: () => typePairs(db, filter),
    look: (walks: readonly Walk[], wanted: EventFilter, step: LookStep) => look(db, walks, wanted, step),
    portion: async (...values: number[]) => (await db.read<Portion>(countPortion, values))[0]!,
    events: (seqs: readonly number[]) => getEvents(db, seqs),
  }
  return runAwaiting(listLog(log, filter, limit, cursor))
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

/**
 * A lateral look-up with a limit can only run row by row through the primary key: for a plain join the planner read the
 * whole log.
 */
async function look(
  db: Database,
  walks: readonly Walk[],
  filter: EventFilter,
  { below, from, each, want }: LookStep,
): Promise<Looked> {
  const values: unknown[] = [below, from, each, want]
  const value = (v: unknown) => `$${values.push(v)}`
  const rows = reached(walks, value)
  const checks = conditionsOf(filter, {
    state: stateOf,
    reason: reasonOf,
    attempts: `coalesce(w.attempt, (select max(a.attempt) from hookonce.attempts a where a.seq = e.seq), e.attempts, 0)`,
    hasConflict: hasOpenConflict,
    hasReference: (value, label) => hasReference('e', value, label),
    value,
    instant: (ms) => `to_timestamp(${value(ms)}::float8 / 1000)`,
    like: (column, glob) => `${column} like ${value(glob.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%'))}`,
  })
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
select array(select seq from passed order by seq desc) as seqs, (select count(*) from reached)::int as looked,
  (select seq from floor) as floor`
  const [found] = await db.read<Omit<Looked, 'seqs'> & { seqs: string[] }>(adhoc(sql), values)
  return { ...found!, seqs: found!.seqs.map(Number) }
}

/** For every key (`k.a`, `k.b`), newest first: at most $3 seqs from $2 to below $1, numbered by `n`. */
function reached(walks: readonly Walk[], value: (v: unknown) => string): string {
  return walks
    .map(({ index, keys }) => {
      const [table, where] = ranges[index]
      const columns = [keys.map(([a]) => a ?? null), keys.map(([, b]) => b ?? null)]
      return `
  select p.seq, p.n from unnest(${columns.map((column) => `${value(texts(column))}::text[]`).join(', ')}) as k (a, b)
  cross join lateral (
    select q.seq, row_number() over (order by q.seq desc) as n from (
      select t.seq from hookonce.${table} t where ${where} and t.seq < $1 and t.seq >= $2 order by t.seq desc limit $3
    ) q
  ) p`
    })
    .join('\n  union all')
}

const ranges: Readonly<Record<ListIndex, readonly [table: string, where: string]>> = {
  key: ['events', 't.source = k.a and t.event_id = k.b'],
  reference: ['events', 't.related_reference = k.a'],
  references: ['event_references', 't.value = k.a'],
  work: ['work', 'true'],
  leased: ['work', 't.source = k.a and t.token is not null'],
  retrying: ['work', 't.source = k.a and t.token is null and t.attempt > t.base_attempt'],
  ignored: ['events', "t.parked = 'ignored' and t.source = k.a"],
  dead: ['events', "t.parked = 'dead' and t.source = k.a"],
  flagged: ['events', 't.same_as is not null'],
  conflicts: ['conflicts', 't.decided_at is null and t.source = k.a'],
  duplicates: ['duplicates', 'true'],
  types: ['events', 't.source = k.a and t.event_type = k.b'],
  all: ['events', 'true'],
}

/** The (source, type) pairs that exist and match, by one index look-up each. Null when there are too many. */
async function typePairs(db: Database, { source, type }: EventFilter): Promise<[string, string][] | null> {
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
