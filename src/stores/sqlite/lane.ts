/**
 * Lanes: of one source and lane only the head, the lowest seq in `work`, is claimed, and not while another of its
 * lane is leased (an older event that is replayed becomes the head while a younger one runs).
 */
import type { Connection } from './connection.js'
import type { Row } from './driver.js'

/**
 * 1 for a row `w` of `work` that must wait for another of its lane; `now` is a parameter of the statement. The index is
 * named because the planner would rather walk all that is not due.
 */
export const blockedAt = (now: string): string => `
  w.lane is not null and (
    exists (select 1 from hookonce_work h where h.source = w.source and h.lane = w.lane and h.seq < w.seq)
    or exists (select 1 from hookonce_work h indexed by hookonce_work_held
      where h.source = w.source and h.lane = w.lane and h.lane is not null and h.token is not null
        and h.next_at > ${now} and h.seq <> w.seq))`

/**
 * How long a row that was found blocked is out of sight of the claims: a second, and one more for each thousand that
 * the same claim found before it. A push costs about 15 us; without the steps, 50,000 events behind one that fails
 * would keep the writer busy with nothing else.
 */
const PUSH_BACK_MS = 1_000
const STEP = 1_000

// A lease that ran out has a token still; with a later next_at it would look alive again. There are few of those.
const pushBackAll = `
  update hookonce_work set next_at = ? where seq in (select value from json_each(?)) and token is null`

/** `before`: how many this claim has pushed back already. */
export function pushBack(connection: Connection, now: number, blocked: readonly Row[], before: number): void {
  if (blocked.length === 0) return
  const nextAt = now + PUSH_BACK_MS * (1 + Math.floor(before / STEP))
  connection.prepare(pushBackAll).run(nextAt, JSON.stringify(blocked.map(({ seq }) => seq)))
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
