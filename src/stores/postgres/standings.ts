/** Where unfinished events stand: a few look-ups by index for each of them. */
import type { EventRecord } from '../../model.js'
import type { Standing } from '../../store/waiting.js'
import { asStanding, type StandingRow } from '../shared/standing.js'
import type { Database } from './connection/database.js'
import { numbers, statement } from './connection/statement.js'
import { getEvents } from './read.js'

/**
 * $1 seqs. An event of a lane waits for the head of the lane; the head waits for another event of the lane that is leased (a
 * younger one, when an older event was replayed). Each look-up has a limit, so it can only run row by row through an index.
 */
const standings = statement('standings')`
select w.seq, hookonce.clock() as now, w.next_at as "dueAt", w.token is not null and w.next_at > hookonce.clock() as "isLeased",
  w.worker, w.claimed_at as "claimedAt", a.finished_at as "failedAt", b.event_id as "beforeId",
  case when not n.is_leased then n.next_at end as "beforeDueAt"
from unnest($1::bigint[]) as i (seq)
cross join lateral (select * from hookonce.work w where w.seq = i.seq limit 1) w
left join lateral (
  select a.finished_at from hookonce.attempts a where a.seq = w.seq and a.outcome = 'failed' order by a.attempt desc limit 1
) a on true
left join lateral (
  (select h.seq, h.next_at, h.token is not null and h.next_at > hookonce.clock() as is_leased from hookonce.work h
    where h.source = w.source and h.lane = w.lane and h.seq < w.seq order by h.seq limit 1)
  union all
  (select h.seq, h.next_at, true from hookonce.work h
    where h.source = w.source and h.lane = w.lane and h.seq > w.seq and h.token is not null and h.next_at > hookonce.clock() limit 1)
  limit 1
) n on w.lane is not null
left join lateral (select e.event_id from hookonce.events e where e.seq = n.seq limit 1) b on true`

export async function standingsOf(db: Database, seqs: readonly number[]): Promise<Standing[]> {
  return (await db.read<StandingRow>(standings, [numbers(seqs)])).map(asStanding)
}

const oldest = statement('oldest')`select seq from hookonce.work order by seq limit $1`

/** The oldest first. */
export async function oldestUnfinished(db: Database, limit: number): Promise<EventRecord[]> {
  const rows = await db.read<{ seq: number }>(oldest, [limit])
  const events = await getEvents(
    db,
    rows.map(({ seq }) => seq),
  )
  return events.reverse()
}
