/** Reads counters and indexes on `work`, never the events. For a large backlog the planner’s estimate is used. */
import pg from 'pg'
import type { SourceStats } from '../../model.js'
import type { Database } from './connection/database.js'
import { adhoc, statement } from './connection/statement.js'
import { SLACK, waitsForNothing } from './work.js'

/** Rows counted over all sources, and at least of each source. */
const COUNTED = 100_000
const COUNTED_AT_LEAST = 1_000
const LOOKED_AHEAD = 500

const sourcesKnown = statement('stats_totals')`
select source, sum(recorded)::bigint as recorded, sum(ignored)::bigint as ignored, sum(dead)::bigint as dead
from hookonce.totals group by source having sum(recorded) > 0 order by source`

/** $1 the most rows to count for each source. One statement: all numbers are of one moment. */
const counts = statement('stats')`
with known as (${sourcesKnown.sql})
select k.*, w.waiting, l.processing, (l.lost + r.retrying) as retrying, least(d.due_at, s.received_at) as oldest_due_at
from known k
cross join lateral (
  select count(*) as waiting from (select 1 from hookonce.work w where w.source = k.source limit $1) w
) w
cross join lateral (
  select count(*) filter (where l.next_at > hookonce.clock()) as processing,
    count(*) filter (where l.next_at <= hookonce.clock() and l.attempt - l.base_attempt > 1) as lost
  from (
    select next_at, attempt, base_attempt from hookonce.work w where w.source = k.source and w.token is not null limit $1
  ) l
) l
cross join lateral (
  select count(*) as retrying from (
    select 1 from hookonce.work w where w.source = k.source and w.token is null and w.attempt > w.base_attempt limit $1
  ) r
) r
left join lateral (
  select w.next_at as due_at from hookonce.work w where w.source = k.source and w.next_at <= hookonce.clock()
  order by w.next_at limit 1
) d on true
left join lateral (
  -- Events that should be due: the next claim of a process finds them (sweep.ts).
  select min(e.received_at) as received_at from (
    select * from hookonce.work w where w.source = k.source and w.next_at > hookonce.clock() + ${SLACK}
    order by w.next_at, w.seq limit ${LOOKED_AHEAD}
  ) w join hookonce.events e on e.seq = w.seq where ${waitsForNothing}
) s on true
order by k.source`

interface Row {
  source: string
  recorded: number
  ignored: number
  dead: number
  waiting: number
  processing: number
  retrying: number
  oldest_due_at: number | null
}

export async function statsOf(db: Database): Promise<SourceStats[]> {
  const known = await db.read<{ source: string }>(sourcesKnown, [])
  const most = Math.max(COUNTED_AT_LEAST, Math.floor(COUNTED / Math.max(1, known.length)))
  const rows = await db.read<Row>(counts, [most])
  return Promise.all(
    rows.map(async (row) => {
      const exact = row.waiting < most
      return asStats(row, exact ? row.waiting : Math.max(most, await estimate(db, row.source)), exact)
    }),
  )
}

function asStats(row: Row, waiting: number, exact: boolean): SourceStats {
  const { source, recorded, ignored, dead, processing, retrying } = row
  // An estimate may be too high, and would make other numbers negative.
  const work = Math.min(waiting, recorded - ignored - dead)
  return {
    source,
    recorded,
    pending: exact ? work - processing - retrying : Math.max(0, work - processing - retrying),
    processing,
    retrying,
    succeeded: recorded - ignored - dead - work,
    ignored,
    dead,
    oldestDueAt: row.oldest_due_at,
    ...(!exact && { estimated: true as const }),
  }
}

/** Autovacuum updates this estimate after every few thousand changes. */
async function estimate(db: Database, source: string): Promise<number> {
  const sql = `explain (format json) select 1 from hookonce.work where source = ${pg.escapeLiteral(source)}`
  const [row] = await db.read<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(adhoc(sql), [])
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}
