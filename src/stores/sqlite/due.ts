/** What is due, and how a claim is shared out between the sources that have something due. */
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { blockedAt, park } from './lane.js'

const nextSource = 'select source from hookonce_work where source > ? order by source limit 1'
const oldestDue = `
  select next_at from hookonce_work where source = ? and next_at <= ? order by next_at, seq limit 1`

/**
 * Sources with something due, in the order they are served: the one that waited longest for its turn first, and
 * among those never served the one with the oldest event. Without turns, a claim smaller than the number of sources
 * would serve the same ones for ever.
 */
export function dueSources(connection: Connection, now: number, wanted?: readonly string[]): string[] {
  const turns = turnsOf(connection)
  const due: { source: string; turn: number; oldest: number }[] = []
  for (const source of wanted === undefined ? allSources(connection) : new Set(wanted)) {
    const row = connection.prepare(oldestDue).get(source, now)
    if (row !== undefined) due.push({ source, turn: turns.get(source) ?? 0, oldest: Number(row.next_at) })
  }
  return due.sort((a, b) => a.turn - b.turn || a.oldest - b.oldest).map(({ source }) => source)
}

/** A loose index scan: one look-up per source, however long the queue. */
function allSources(connection: Connection): string[] {
  const sources: string[] = []
  for (let after = ''; ; ) {
    const row = connection.prepare(nextSource).get(after)
    if (row === undefined) return sources
    after = String(row.source)
    sources.push(after)
  }
}

/** Lost attempts since the last that ended otherwise, with the one whose lease ran out and that has no row yet. */
const losses = `
  case when w.attempt = w.base_attempt then 0 else (w.token is not null) + (
    select count(*) from hookonce_attempts a
    where a.seq = w.seq and a.attempt > max(w.base_attempt, coalesce((
      select b.attempt from hookonce_attempts b
      where b.seq = w.seq and b.outcome <> 'lost' order by b.attempt desc limit 1), 0))) end`

/** What a claim hands over of an event, its bytes aside, and whether it may. `now` is a parameter of the statement. */
export const claimColumns = (now: string): string => `
  select w.*, e.event_id, e.event_type, e.related_reference, e.received_at, e.run, e.part,
    coalesce(e.payload_seq, e.seq) as payload_seq, ${losses} as losses, ${blockedAt(now)} as blocked
  from hookonce_work w join hookonce_events e on e.seq = w.seq`
const dueAfter = `${claimColumns('?2')}
  where w.source = ?1 and w.next_at <= ?2 and (w.next_at, w.seq) > (?3, ?4)
  order by w.next_at, w.seq limit ?5`

/** Where one row was blocked others are: they are looked at so many at a time. */
const LOOK_AT_LEAST = 100

/** How far the search in one source has come. */
interface Place {
  readonly source: string
  nextAt: number
  seq: number
}

/** Equal shares; what some sources leave over goes round among the others. Answers rows, oldest due first. */
export function pickFairly(
  connection: Connection,
  now: number,
  sources: readonly string[],
  limit: number,
): Row[] {
  const turns = turnsOf(connection)
  const turn = Math.max(0, ...turns.values()) + 1
  const picked: Row[] = []
  let waiting: Place[] = sources.map((source) => ({ source, nextAt: -1, seq: -1 }))
  while (picked.length < limit && waiting.length > 0) {
    const share = Math.max(1, Math.floor((limit - picked.length) / waiting.length))
    waiting = waiting.filter((place) => {
      const count = Math.min(share, limit - picked.length)
      if (count === 0) return false
      const rows = nextFree(connection, now, place, count)
      if (rows.length === 0) return false
      turns.set(place.source, turn)
      picked.push(...rows)
      return rows.length === count
    })
  }
  return picked.sort((a, b) => Number(a.next_at) - Number(b.next_at) || Number(a.seq) - Number(b.seq))
}

/** The next `count` due rows of a source that wait for no other of their lane. Those that do are parked. */
function nextFree(connection: Connection, now: number, place: Place, count: number): Row[] {
  const free: Row[] = []
  for (let look = count; ; look = Math.max(count - free.length, LOOK_AT_LEAST)) {
    const rows = connection.prepare(dueAfter).all(place.source, now, place.nextAt, place.seq, look)
    const blocked: Row[] = []
    for (const row of rows) {
      place.nextAt = Number(row.next_at)
      place.seq = Number(row.seq)
      if (row.blocked !== 0) blocked.push(row)
      else if (free.push(row) === count) break
    }
    park(connection, now, blocked)
    if (free.length === count || rows.length < look) return free
  }
}

/** When each source was last served by this connection. A hint for fairness: losing it in a restart is harmless. */
const served = new WeakMap<Connection, Map<string, number>>()

function turnsOf(connection: Connection): Map<string, number> {
  let turns = served.get(connection)
  if (turns === undefined) {
    turns = new Map()
    served.set(connection, turns)
  }
  return turns
}
