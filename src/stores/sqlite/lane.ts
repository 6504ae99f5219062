/**
 * Lanes: of one source and lane only the head, the lowest seq in `work`, is claimed, and not while another of its
 * lane is leased (an older event that is replayed becomes the head while a younger one runs). Only the head is due: the
 * others are parked, their `next_at` lies an hour ahead, and whoever deletes the head makes the next one due.
 */
import { LOOK_AGAIN_MS, PARKED_MS } from '../shared/lane.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'

/** Another of its lane is in front of it. */
export const BEHIND = 2

/**
 * 0 for a row `w` of `work` that may be claimed, else why not: BEHIND, or 1 for the head of a lane of which another is
 * held. `now` is a parameter of the statement. The index is named because the planner would rather walk all that is not
 * due.
 */
export const blockedAt = (now: string): string => `
  case when w.lane is null then 0
    when exists (select 1 from hookonce_work h where h.source = w.source and h.lane = w.lane and h.seq < w.seq)
      then ${BEHIND}
    else exists (select 1 from hookonce_work h indexed by hookonce_work_held
      where h.source = w.source and h.lane = w.lane and h.lane is not null and h.token is not null
        and h.next_at > ${now} and h.seq <> w.seq) end`

const before = 'select 1 from hookonce_work where source = ? and lane = ? and seq < ? limit 1'

/** When an event that enters `work` now is due: at once as the head of its lane, else not before the head is gone. */
export function dueIn(connection: Connection, now: number, source: string, lane: string | null, seq: number) {
  if (lane === null || connection.prepare(before).get(source, lane, seq) === undefined) return now
  return now + PARKED_MS
}

// A lease that ran out has a token still; with a later next_at it would look alive again. There are few of those.
const putOff = `
  update hookonce_work set next_at = ?1, claimed_at = iif(?2, null, claimed_at)
  where seq in (select value from json_each(?3)) and token is null`

/** Takes rows that a claim found blocked out of sight: replayed events, and those of a log of an older version. */
export function park(connection: Connection, now: number, blocked: readonly Row[]): void {
  for (const behind of [true, false]) {
    const rows = blocked.filter((row) => (row.blocked === BEHIND) === behind)
    if (rows.length === 0) continue
    const nextAt = now + (behind ? PARKED_MS : LOOK_AGAIN_MS)
    connection.prepare(putOff).run(nextAt, behind ? 1 : 0, JSON.stringify(rows.map(({ seq }) => seq)))
  }
}

// One that was claimed before has a time of its own: its next attempt, or the end of the delay it was handed back with.
const wakeHead = `
  update hookonce_work set next_at = ?1
  where seq = (select min(seq) from hookonce_work where source = ?2 and lane = ?3)
    and token is null and claimed_at is null and next_at > ?1`

/** An event has left `work` for good: the head of its lane, which may have waited for it, is due at once. */
export function wakeLane(connection: Connection, now: number, { source, lane }: Row): void {
  if (lane === null) return
  connection.prepare(wakeHead).run(now, source!, lane!)
}
