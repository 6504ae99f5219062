/** Where unfinished events stand: a few look-ups by index for each of them. */
import type { EventRecord } from '../../model.js'
import type { Standing } from '../../store/waiting.js'
import { asStanding, type StandingRow } from '../shared/standing.js'
import type { Connection } from './connection.js'
import { eventColumns, recordsOf, rowsOf } from './rows.js'

// ?1 seqs  ?2 now. A younger event of the lane is leased when an older one was replayed. The index is named, as in lane.ts.
const bySeqs = `
  select w.seq, ?2 as now, w.next_at as dueAt, w.token is not null and w.next_at > ?2 as isLeased, w.worker,
    w.claimed_at as claimedAt,
    (select a.finished_at from hookonce_attempts a where a.seq = w.seq and a.outcome = 'failed'
      order by a.attempt desc limit 1) as failedAt,
    b.event_id as beforeId, iif(h.token is not null and h.next_at > ?2, null, h.next_at) as beforeDueAt
  from hookonce_work w
  left join hookonce_work h on w.lane is not null and h.seq = coalesce(
    (select f.seq from hookonce_work f where f.source = w.source and f.lane = w.lane and f.seq < w.seq order by f.seq limit 1),
    (select f.seq from hookonce_work f indexed by hookonce_work_held
      where f.source = w.source and f.lane = w.lane and f.lane is not null and f.token is not null and f.next_at > ?2
        and f.seq > w.seq limit 1))
  left join hookonce_events b on b.seq = h.seq
  where w.seq in (select value from json_each(?1))`

export function standings(log: Connection, seqs: readonly number[]): Standing[] {
  return rowsOf<StandingRow>(log.all(bySeqs, JSON.stringify(seqs), log.now)).map(asStanding)
}

const oldestSeqs = 'select seq from hookonce_work order by seq limit ?'
const eventsBySeqs = `${eventColumns('?2')} where e.seq in (select value from json_each(?1)) order by e.seq`

/** The oldest first. */
export function oldestUnfinished(log: Connection, limit: number): EventRecord[] {
  return log.read(() => {
    const seqs = log.all(oldestSeqs, limit).map((row) => Number(row.seq))
    return recordsOf(log.all(eventsBySeqs, JSON.stringify(seqs), log.now))
  })
}
