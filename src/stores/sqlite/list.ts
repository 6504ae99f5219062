/** The log, newest first, in pages. Each call looks at a bounded number of rows, whatever the filter. */

import { globMatches } from '../../glob.js'
import type { EventFilter, EventPage, EventRecord } from '../../model.js'
import { encodeCursor } from '../shared/cursor.js'
import { withDeadSaid } from '../shared/filter.js'
import type { Connection } from './connection.js'
import { eventColumns, toRecord } from './event-row.js'
import { seqRange } from './hours.js'
import { pathOf, type Walk } from './list-paths.js'

export interface ListArgs {
  readonly filter: EventFilter
  readonly limit: number
  /** Only events with a smaller seq: the decoded cursor. */
  readonly below: number | null
  readonly scanLimit: number
}

// `matches` judges; these conditions only spare it most of the rows that cannot match, at a tenth of the price.
const eventsBySeqs = `${eventColumns}
  where e.seq in (select value from json_each(?1))
    and (?2 is null or e.source = ?2)
    and (?3 is null or w.seq is not null or e.processing_state = ?3)
    and (?4 is null or w.seq is not null or e.reason = ?4)
    and (?5 is null or e.received_at >= ?5)
    and (?6 is null or e.received_at < ?6)
  order by e.seq desc`

/** How many rows are read at once while looking for matches. */
const CHUNK = 256

export function list(connection: Connection, now: number, args: ListArgs): EventPage {
  const filter = withDeadSaid(args.filter)
  if (filter === null) return { events: [], next: null }
  return connection.read(() => look(connection, now, { ...args, filter }))
}

function look(connection: Connection, now: number, args: ListArgs): EventPage {
  const { filter, limit, scanLimit } = args
  const bounds = boundsOf(connection, args)
  if (bounds === null) return { events: [], next: null }
  const walks = pathOf(connection, filter)
  const seqs = newestFirst(walks, bounds.below, bounds.floor, Math.min(limit + 1, CHUNK))
  const { source, state, reason, from, to } = filter
  const conditions = [source ?? null, state ?? null, reason ?? null, from ?? null, to ?? null]
  const events: EventRecord[] = []
  let looked = 0
  for (;;) {
    // The first chunk is a page; only a filter that keeps little reads on in larger ones.
    const chunk = take(seqs, Math.min(looked === 0 ? limit + 1 : CHUNK, scanLimit - looked))
    if (chunk.length === 0) return { events, next: null }
    for (const row of connection.prepare(eventsBySeqs).all(JSON.stringify(chunk), ...conditions)) {
      const record = toRecord(row, now)
      if (!matches(record, filter)) continue
      // One match beyond the page is what proves that there is a next one.
      if (events.length === limit) return { events, next: encodeCursor(events.at(-1)!.seq) }
      events.push(record)
    }
    looked += chunk.length
    if (looked >= scanLimit) return { events, next: encodeCursor(chunk.at(-1)!), cut: true }
  }
}

function boundsOf(
  connection: Connection,
  { filter, below }: ListArgs,
): { below: number; floor: number } | null {
  const top = below ?? Number.MAX_SAFE_INTEGER
  if (filter.from === undefined && filter.to === undefined) return { below: top, floor: 0 }
  const range = seqRange(connection, filter.from ?? 0, filter.to ?? Number.MAX_SAFE_INTEGER, filter.source)
  return range && { below: Math.min(top, range.last + 1), floor: range.first }
}

/** Merges walks by seq. An event that two of them meet comes once. */
function* newestFirst(
  walks: readonly Walk[],
  below: number,
  floor: number,
  count: number,
): Generator<number> {
  const heads = walks.map((walk) => ({ walk, seqs: walk(below, floor, count), at: 0 }))
  for (;;) {
    let newest = -1
    for (const { seqs, at } of heads) newest = Math.max(newest, seqs[at] ?? -1)
    if (newest < 0) return
    yield newest
    for (const head of heads) {
      if (head.seqs[head.at] !== newest) continue
      head.at++
      if (head.at === head.seqs.length && head.at >= count) {
        head.seqs = head.walk(newest, floor, count)
        head.at = 0
      }
    }
  }
}

function take(seqs: Generator<number>, count: number): number[] {
  const taken: number[] = []
  while (taken.length < count) {
    const { value, done } = seqs.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

function matches(event: EventRecord, filter: EventFilter): boolean {
  const { source, eventId, type, state, dead, reason, reference, from, to } = filter
  return (
    (source === undefined || event.source === source) &&
    (eventId === undefined || event.eventId === eventId) &&
    (type === undefined || globMatches(type, event.eventType)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && (event.nextAttemptAt === null) === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reference === undefined || event.reference === reference) &&
    (from === undefined || event.receivedAt >= from) &&
    (to === undefined || event.receivedAt < to) &&
    (filter.hasDuplicates === undefined || event.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || event.conflicts > 0 === filter.hasConflict) &&
    (filter.flagged === undefined || ((event.sameAs ?? event.contests) !== null) === filter.flagged)
  )
}
