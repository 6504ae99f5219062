/**
 * Lanes: of one source and lane only the head, the lowest seq in `work`, is claimed, and only while no other event of the
 * lane is leased (a replayed older event becomes the head while a younger one runs). The other events are parked: their
 * `next_at` is an hour ahead, and the transaction that deletes the head makes the next one due.
 */
import { LOOK_AGAIN_MS, PARKED_MS } from '../shared/work.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'

export const BEHIND = 2

/**
 * 0: the row `w` of `work` may be claimed. 1: it is the head, but another event of its lane is leased. `now` names a
 * parameter. The index is named because the planner would scan all rows that are not due.
 */
export const blockedAt = (now: string): string => `
  case when w.lane is null then 0
    when exists (select 1 from hookonce_work h where h.source = w.source and h.lane = w.lane and h.seq < w.seq)
      then ${BEHIND}
    else exists (select 1 from hookonce_work h indexed by hookonce_work_held
      where h.source = w.source and h.lane = w.lane and h.lane is not null and h.token is not null
        and h.next_at > ${now} and h.seq <> w.seq) end`

const before = 'select 1 from hookonce_work where source = ? and lane = ? and seq < ? limit 1'

/** An event that enters `work` is due at once as the head of its lane, else parked until the head leaves. */
export function dueIn(log: Connection, source: string, lane: string | null, seq: number) {
  if (lane === null || log.get(before, source, lane, seq) === undefined) return log.now
  return log.now + PARKED_MS
}

// An expired lease still has its token, and a later next_at would make it look live again. Such rows are rare.
const putOff = `
  update hookonce_work set next_at = ?1, claimed_at = iif(?2, null, claimed_at)
  where seq in (select value from json_each(?3)) and token is null`

/** Moves blocked rows out of the due range, where a replay may have put them. */
export function park(log: Connection, blocked: readonly Row[]): void {
  for (const behind of [true, false]) {
    const rows = blocked.filter((row) => (row.blocked === BEHIND) === behind)
    if (rows.length === 0) continue
    const nextAt = log.now + (behind ? PARKED_MS : LOOK_AGAIN_MS)
    log.run(putOff, nextAt, behind ? 1 : 0, JSON.stringify(rows.map(({ seq }) => seq)))
  }
}

// A head that was claimed before keeps its next_at: the time of its next attempt, or the end of its release delay.
const wakeHead = `
  update hookonce_work set next_at = ?1
  where seq = (select min(seq) from hookonce_work where source = ?2 and lane = ?3)
    and token is null and claimed_at is null and next_at > ?1`

export function wakeLane(log: Connection, { source, lane }: Row): void {
  if (lane === null) return
  log.run(wakeHead, log.now, source!, lane!)
}
