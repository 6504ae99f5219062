/**
 * Statistics from counters and from indexes over the work rows. The log is never read, and of a backlog only a bounded
 * number of rows is counted; how many there are beyond it is what the planner believes.
 */
import pg from 'pg'
import type { SourceStats } from '../../model.js'
import type { Database } from './database.js'
import type { Statement } from './statement.js'

/** Rows counted over all sources. */
const COUNTED = 100_000
const COUNTED_AT_LEAST = 1_000

const sourcesKnown: Statement = {
  name: 'stats_totals',
  sql: `
select source, sum(recorded)::bigint as recorded, sum(ignored)::bigint as ignored, sum(dead)::bigint as dead
from hookonce.totals group by source having sum(recorded) > 0 order by source`,
}

/** $1 how many rows to count of each source at most. In one statement, so that the numbers are of one moment. */
const counts: Statement = {
  name: 'stats',
  sql: `
with known as (${sourcesKnown.sql})
select k.*, w.waiting, l.processing, (l.lost + r.retrying) as retrying, d.oldest_due_at
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
  select w.next_at as oldest_due_at from hookonce.work w where w.source = k.source and w.next_at <= hookonce.clock()
  order by w.next_at limit 1
) d on true
order by k.source`,
}

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
  // An estimate may be too high; no number becomes negative for it.
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

/** What the planner believes: kept up to date by autovacuum, which looks at this table every few thousand changes. */
async function estimate(db: Database, source: string): Promise<number> {
  const sql = `explain (format json) select 1 from hookonce.work where source = ${pg.escapeLiteral(source)}`
  const [row] = await db.read<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>({ name: '', sql }, [])
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}
