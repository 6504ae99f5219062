/**
 * list and tail: pages of the log, newest first or in the order of recording. Each call reads a bounded number of rows,
 * whatever the filter.
 */
import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter, EventPage, EventRecord, TailOptions, TailPage } from '../../model.js'
import {
  encodeCursor,
  indexesFor,
  type ListIndex,
  PAIRS_AT_MOST,
  passBacklog,
  passesBacklog,
  withImpliedState,
} from '../shared/list.js'
import type { Connection } from './connection.js'
import type { SqliteValue } from './driver.js'
import { eventColumns, recordsOf } from './rows.js'
import { seqRange } from './stats.js'

export interface ListArgs {
  readonly filter: EventFilter
  readonly limit: number
  /** The decoded cursor: only events with a smaller seq are read. */
  readonly below: number | null
}

// `matches` decides. These conditions filter out most rows that cannot match at a tenth of its cost.
const eventsBySeqs = `${eventColumns('?7')}
  where e.seq in (select value from json_each(?1))
    and (?2 is null or e.source = ?2)
    and (?3 is null or w.seq is not null or e.processing_state = ?3)
    and (?4 is null or w.seq is not null or e.reason = ?4)
    and (?5 is null or e.received_at >= ?5)
    and (?6 is null or e.received_at < ?6)
  order by e.seq desc`

/** Rows read by one query while searching for matches. */
const CHUNK = 256
/** Rows that one call reads at most. */
const SCAN_AT_MOST = 10_000

export function list(log: Connection, args: ListArgs): EventPage {
  const filter = withImpliedState(args.filter)
  if (filter === null) return { events: [], next: null }
  return log.read(() => readPage(log, { ...args, filter }))
}

function readPage(log: Connection, args: ListArgs): EventPage {
  const { filter, limit } = args
  const bounds = boundsOf(log, args)
  if (bounds === null) return { events: [], next: null }
  const walks = pathOf(log, filter)
  let seqs = newestFirst(walks, bounds.below, bounds.floor, Math.min(limit + 1, CHUNK))
  const { source, state, reason, from, to } = filter
  const conditions = [source ?? null, state ?? null, reason ?? null, from ?? null, to ?? null, log.now]
  const events: EventRecord[] = []
  let looked = 0
  let mayPass = passesBacklog(filter)
  for (;;) {
    const found = events.length
    // The first chunk is one page. Only a filter that few rows match needs the larger chunks after it.
    const chunk = take(seqs, Math.min(looked === 0 ? limit + 1 : CHUNK, SCAN_AT_MOST - looked))
    if (chunk.length === 0) return { events, next: null }
    for (const record of recordsOf(log.all(eventsBySeqs, JSON.stringify(chunk), ...conditions))) {
      if (!matches(record, filter)) continue
      // A match beyond the page proves that there is a next page.
      if (events.length === limit) return { events, next: encodeCursor(events.at(-1)!.seq) }
      events.push(record)
    }
    looked += chunk.length
    let below = chunk.at(-1)!
    if (events.length === found && mayPass) {
      below = belowBacklog(log, below, bounds.floor)
      seqs = newestFirst(walks, below, bounds.floor, CHUNK)
      mayPass = false
    }
    if (looked >= SCAN_AT_MOST) return { events, next: encodeCursor(below), cut: true }
  }
}

const countEvents = `
  select count(*) as events, min(seq) as lowest
  from (select seq from hookonce_events where seq < ? and seq >= ? order by seq desc limit ?)`
const countWork = 'select count(*) as waiting from hookonce_work where seq < ? and seq >= ?'

function belowBacklog(log: Connection, from: number, floor: number): number {
  const search = passBacklog(from)
  for (let next = search.next(); ; ) {
    if (next.done) return next.value
    const { below, size } = next.value
    const row = log.get(countEvents, below, floor, size)!
    const lowest = row.lowest === null ? null : Number(row.lowest)
    const waiting = lowest === null ? 0 : Number(log.get(countWork, below, lowest)!.waiting)
    next = search.next({ events: Number(row.events), lowest, waiting })
  }
}

function boundsOf(log: Connection, { filter, below }: ListArgs): { below: number; floor: number } | null {
  const top = below ?? Number.MAX_SAFE_INTEGER
  if (filter.from === undefined && filter.to === undefined) return { below: top, floor: 0 }
  const range = seqRange(log, filter.from ?? 0, filter.to ?? Number.MAX_SAFE_INTEGER, filter.source)
  return range && { below: Math.min(top, range.last + 1), floor: range.first }
}

/** Merges walks by seq. An event found by several walks is returned once. */
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
  const { source, id, type, state, dead, reason, reasonLike, minAttempts, reference, from, to } = filter
  return (
    (source === undefined || event.source === source) &&
    (id === undefined || event.id === id) &&
    (type === undefined || globMatches(type, event.type)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && (event.nextAttemptAt === null) === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reasonLike === undefined || (event.reason !== null && globMatches(reasonLike, event.reason))) &&
    (minAttempts === undefined || event.attempts >= minAttempts) &&
    (reference === undefined || event.reference === reference) &&
    (from === undefined || event.receivedAt >= from) &&
    (to === undefined || event.receivedAt < to) &&
    (filter.hasDuplicates === undefined || event.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || event.conflicts > 0 === filter.hasConflict) &&
    (filter.flagged === undefined || (event.sameAs !== null) === filter.flagged)
  )
}

// A path is one or more walks over indexes, which are merged by seq.

/** Up to `count` seqs of one index with floor <= seq < below, newest first. */
type Walk = (below: number, floor: number, count: number) => number[]

const range = 'seq < ? and seq >= ? order by seq desc limit ?'
const events = 'select seq from hookonce_events'
const work = 'select seq from hookonce_work'
const duplicates = 'select seq from hookonce_duplicates'
const bySeq = `${events} where ${range}`
const walks: Readonly<Record<ListIndex, string>> = {
  key: `${events} where source = ? and event_id = ? and seq < ? and seq >= ? limit ?`,
  reference: `${events} where related_reference = ? and ${range}`,
  work: `${work} where ${range}`,
  leased: `${work} where source = ? and token is not null and ${range}`,
  retrying: `${work} where source = ? and token is null and attempt > base_attempt and ${range}`,
  ignored: `${events} where parked = 'ignored' and source = ? and ${range}`,
  dead: `${events} where parked = 'dead' and source = ? and ${range}`,
  flagged: `${events} where same_as is not null and ${range}`,
  conflicts: `${duplicates} where conflicts > 0 and ${range}`,
  duplicates: `${duplicates} where ${range}`,
  types: `${events} where source = ? and event_type = ? and ${range}`,
}

function pathOf(log: Connection, filter: EventFilter): Walk[] {
  return indexesFor(filter).flatMap((index) => {
    const keys = keysOf(log, index, filter)
    if (keys === null) return [walkOf(log, bySeq, [])]
    return keys.map((key) => walkOf(log, walks[index], key))
  })
}

/** A walk for each key. Null: the whole log is read. */
function keysOf(log: Connection, index: ListIndex, filter: EventFilter): SqliteValue[][] | null {
  const { source, id, reference } = filter
  switch (index) {
    case 'key':
      return sourcesOf(log, source).map((name) => [name, id!])
    case 'reference':
      return [[reference!]]
    case 'leased':
    case 'retrying':
      return knownSources(log, source).map((name) => [name])
    case 'ignored':
    case 'dead':
      return (source === undefined ? parkedSources(log, index) : [source]).map((name) => [name])
    case 'types':
      return pairsOf(log, filter)
    default:
      return [[]]
  }
}

function walkOf(log: Connection, sql: string, keys: readonly SqliteValue[]): Walk {
  const statement = log.prepare(sql)
  return (below, floor, count) => statement.all(...keys, below, floor, count).map((row) => Number(row.seq))
}

function knownSources(log: Connection, source: string | undefined): string[] {
  if (source !== undefined) return [source]
  return log.all('select source from hookonce_totals').map((row) => String(row.source))
}

// Loose index scans: one look-up per distinct value, independent of the number of rows.

const nextParkedSource =
  'select source from hookonce_events where parked = ? and source > ? order by source limit 1'

function parkedSources(log: Connection, list: string): string[] {
  return distinct((after) => log.get(nextParkedSource, list, after)?.source)
}

const nextSource = 'select source from hookonce_events where source > ? order by source limit 1'

function sourcesOf(log: Connection, source: string | undefined): string[] {
  if (source !== undefined) return [source]
  return distinct((after) => log.get(nextSource, after)?.source)
}

function distinct(next: (after: string) => SqliteValue | undefined): string[] {
  const found: string[] = []
  for (let value = next(''); typeof value === 'string'; value = next(value)) found.push(value)
  return found
}

const nextType = `
  select event_type from hookonce_events where source = ? and event_type > ? order by event_type limit 1`

/** The (source, type) pairs that match a filter; null when it names neither, or there are too many to merge. */
function pairsOf(log: Connection, { source, type }: EventFilter): [string, string][] | null {
  if (source === undefined && type === undefined) return null
  const pairs: [string, string][] = []
  let looked = 0
  for (const name of sourcesOf(log, source)) {
    if (type !== undefined && !isGlob(type)) {
      if (pairs.push([name, type]) > PAIRS_AT_MOST) return null
      continue
    }
    for (let found = ''; ; ) {
      const next = log.get(nextType, name, found)?.event_type
      if (typeof next !== 'string') break
      found = next
      if (++looked > PAIRS_AT_MOST) return null
      if (type === undefined || globMatches(type, found)) pairs.push([name, found])
    }
  }
  return pairs
}

const lastSeq = "select seq from sqlite_sequence where name = 'hookonce_events'"
const seqsAfter = 'select seq, source from hookonce_events where seq > ? order by seq limit ?'
const tailEvents = `${eventColumns('?2')} where e.seq in (select value from json_each(?1)) order by e.seq`
const prunedSince = 'select 1 from hookonce_pruned where seq > ?1 and (?2 is null or source = ?2) limit 1'

/** Events in the order they were recorded. There is one writer at a time, so seqs are in the order of the commits. */
export function tail(log: Connection, options: TailOptions): TailPage {
  return log.read(() => readTail(log, options))
}

function readTail(log: Connection, { after, limit, source }: TailOptions): TailPage {
  const last = Number(log.get(lastSeq)?.seq ?? 0)
  if (last <= after) return { events: [], position: after, gap: false }
  const scan = source === undefined ? limit : SCAN_AT_MOST
  const rows = log.all(seqsAfter, after, scan)
  const seqs = rows
    .filter((row) => source === undefined || row.source === source)
    .slice(0, limit)
    .map((row) => Number(row.seq))
  const found = seqs.length === 0 ? [] : log.all(tailEvents, JSON.stringify(seqs), log.now)
  return {
    events: recordsOf(found),
    position: seqs.length === limit ? seqs.at(-1)! : rows.length === scan ? Number(rows.at(-1)!.seq) : last,
    gap: after > 0 && log.get(prunedSince, after, source ?? null) !== undefined,
  }
}
