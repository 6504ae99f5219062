/**
 * tail: the log in the order it grew. Numbers are taken before the commit and commits overtake each other, so a page
 * ends at the horizon, below which nothing can appear any more (docs/decisions/0002-tail.md).
 */
import type { TailOptions, TailPage } from '../../model.js'
import type { Database, Statement } from './database.js'
import { getEvents } from './read.js'

const horizon: Statement = { name: 'tail_horizon', sql: 'select hookonce.horizon() as horizon' }

/** $1 after   $2 horizon   $3 rows to look at   $4 source or null   $5 limit */
const page: Statement = {
  name: 'tail_page',
  sql: `
with looked as materialized (
  select seq, source from hookonce.events where seq > $1 and seq <= $2 order by seq limit $3
)
select array(select seq from looked where $4::text is null or source = $4 order by seq limit $5) as seqs,
  (select count(*) from looked)::int as looked_at, (select max(seq) from looked) as last`,
}

/** $1 after   $2 source or null */
const missed: Statement = {
  name: 'tail_missed',
  sql: `
select exists (select 1 from hookonce.pruned where seq > $1 and ($2::text is null or source = $2)) as missed`,
}

/** How many events of other sources one call passes over. */
const SCAN_AT_MOST = 10_000

export async function tail(db: Database, { after, limit, source }: TailOptions): Promise<TailPage> {
  const [top] = await db.read<{ horizon: number }>(horizon, [])
  if (top!.horizon <= after) return { events: [], position: after, gap: false }
  // A statement of its own, and so a new view: whoever had committed when the horizon was found is in it.
  const scan = source === undefined ? limit : SCAN_AT_MOST
  const [row] = await db.read<{ seqs: string[]; looked_at: number; last: number | null }>(page, [
    after,
    top!.horizon,
    scan,
    source ?? null,
    limit,
  ])
  const seqs = row!.seqs.map(Number)
  const events = (await getEvents(db, seqs)).reverse()
  return {
    events,
    position: seqs.length === limit ? seqs.at(-1)! : row!.looked_at === scan ? row!.last! : top!.horizon,
    // The last look: what was removed while the page was read is noticed too.
    gap: after > 0 && (await db.read<{ missed: boolean }>(missed, [after, source ?? null]))[0]!.missed,
  }
}
