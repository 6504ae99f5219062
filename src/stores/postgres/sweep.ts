/**
 * Makes events due that wait for nothing although their due time lies ahead: a process died before it made the next event
 * of a lane due, or the clock of the server was set back.
 */
import type { Database } from './connection/database.js'
import { numbers, statement, texts } from './connection/statement.js'
import { SLACK, waitsForNothing } from './work.js'

const SWEEP_MS = 5_000
/** For each source. The next sweep continues behind them. */
const ROWS = 500

/**
 * $1 sources   $2 due times   $3 seqs: where the last sweep of the source ended   $4 the most rows of each source
 *
 * An event that was claimed before waits for its next attempt, or is leased. If it was claimed in the future, its delay
 * begins again. A claim checks lanes too, so an event that is made due by mistake is only parked again.
 */
const sweepRows = statement('sweep')`
with seen as materialized (
  select s.n, w.seq, w.next_at
  from unnest($1::text[], $2::timestamptz[], $3::bigint[]) with ordinality as s (source, next_at, seq, n)
  cross join lateral (
    select w.seq, w.next_at from hookonce.work w
    where w.source = s.source and w.next_at > hookonce.clock() + ${SLACK} and (w.next_at, w.seq) > (s.next_at, s.seq)
    order by w.next_at, w.seq limit $4
  ) w
),
found as materialized (
  select w.seq from seen s
  cross join lateral (
    select w.seq from hookonce.work w
    where w.seq = s.seq and w.next_at > hookonce.clock() + ${SLACK}
      and ((${waitsForNothing}) or w.claimed_at > hookonce.clock() + ${SLACK} and w.next_at > w.claimed_at)
    limit 1 for no key update skip locked
  ) w
),
woken as (
  update hookonce.work w
  set next_at = hookonce.clock() + coalesce(w.next_at - w.claimed_at, interval '0'),
    claimed_at = case when w.claimed_at is not null then hookonce.clock() end
  -- Not a join: a plan that was made for many rows would read the whole table.
  where w.seq = any(array(select seq from found))
  returning 1
)
select n::int, count(*)::int as looked, (array_agg(next_at::text order by next_at desc, seq desc))[1] as next_at,
  (array_agg(seq order by next_at desc, seq desc))[1] as seq, (select count(*) from woken)::int as woken
from seen group by n`

interface Row {
  n: number
  looked: number
  next_at: string
  seq: number
  woken: number
}

interface Place {
  readonly nextAt: string
  readonly seq: number
}

const START: Place = { nextAt: '-infinity', seq: 0 }

export function sweeper(db: Database): (sources: readonly string[]) => Promise<void> {
  const places = new Map<string, Place>()
  let nextAt = 0

  return async (sources) => {
    if (performance.now() < nextAt || sources.length === 0) return
    nextAt = performance.now() + SWEEP_MS
    const from = sources.map((source) => places.get(source) ?? START)
    const rows = await db.query<Row>(sweepRows, [
      texts(sources),
      texts(from.map((place) => place.nextAt)),
      numbers(from.map((place) => place.seq)),
      ROWS,
    ])
    for (const source of sources) places.delete(source)
    for (const { n, looked, next_at, seq } of rows)
      if (looked === ROWS) places.set(sources[n - 1]!, { nextAt: next_at, seq })
    // There may be many more after a step of the clock.
    if (rows.some(({ woken }) => woken > 0)) nextAt = 0
  }
}
