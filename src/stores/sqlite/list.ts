import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter, EventPage, TailOptions, TailPage } from '../../model.js'
import {
  conditionsOf,
  type ListedLog,
  type ListIndex,
  type Looked,
  type LookStep,
  listEvents,
  PAIRS_AT_MOST,
  type Portion,
  type Walk,
} from '../shared/list.js'
import { runBlocking } from '../shared/steps.js'
import type { Connection } from './connection.js'
import type { SqliteValue } from './driver.js'
import { hasReference } from './references.js'
import { eventColumns, hasOpenConflict, lastError, recordsOf, stateAt } from './rows.js'
import { seqRange } from './stats.js'

export interface ListArgs {
  readonly filter: EventFilter
  readonly limit: number
  readonly cursor: string | null
}

const eventsBySeqs = `${eventColumns('?2')} where e.seq in (select value from json_each(?1)) order by e.seq desc`

export function list(log: Connection, { filter, limit, cursor }: ListArgs): EventPage {
  const listed: ListedLog = {
    range: (from, to, source) => seqRange(log, from, to, source),
    sources: () => sourcesOf(log),
    pairs: () => pairsOf(log, filter),
    look: (walks, wanted, step) => look(log, walks, wanted, step),
    portion: (below, from, size) => portionOf(log, below, from, size),
    events: (seqs) => recordsOf(log.all(eventsBySeqs, JSON.stringify(seqs), log.now)),
  }
  return log.read(() => runBlocking(listEvents(listed, filter, limit, cursor)))
}

function sourcesOf(log: Connection): string[] {
  return log.all('select source from hookonce_totals').map((row) => String(row.source))
}

const countEvents = `
  select count(*) as events, min(seq) as lowest
  from (select seq from hookonce_events where seq < ? and seq >= ? order by seq desc limit ?)`
const countWork = 'select count(*) as waiting from hookonce_work where seq < ? and seq >= ?'

function portionOf(log: Connection, below: number, from: number, size: number): Portion {
  const row = log.get(countEvents, below, from, size)!
  if (row.lowest === null) return { events: 0, lowest: null, waiting: 0 }
  const lowest = Number(row.lowest)
  return { events: Number(row.events), lowest, waiting: Number(log.get(countWork, below, lowest)!.waiting) }
}

function look(log: Connection, walks: readonly Walk[], filter: EventFilter, step: LookStep): Looked {
  const { below, from, each, want } = step
  const reached = walks.flatMap(({ index, keys }) =>
    keys.map((key) => log.all(ranges[index], ...key, below, from, each).map((row) => Number(row.seq))),
  )
  const ends = reached.flatMap((seqs) => (seqs.length === each ? [seqs.at(-1)!] : []))
  const floor = ends.length === 0 ? null : Math.max(...ends)
  const candidates = reached.flat().filter((seq) => seq >= (floor ?? 0))
  return {
    seqs: matching(log, filter, candidates, want),
    looked: reached.reduce((sum, seqs) => sum + seqs.length, 0),
    floor,
  }
}

function matching(log: Connection, filter: EventFilter, seqs: readonly number[], want: number): number[] {
  const values: SqliteValue[] = [JSON.stringify(seqs), want, log.now]
  const value = (v: string | number | boolean) => `?${values.push(typeof v === 'boolean' ? Number(v) : v)}`
  const checks = conditionsOf(filter, {
    state: stateAt('?3'),
    reason: lastError,
    attempts: 'coalesce(w.attempt, e.attempts)',
    hasConflict: hasOpenConflict,
    hasReference: (value, label) => hasReference('e', value, label),
    value,
    instant: value,
    like: (column, glob) => `${column} glob ${value(glob.replace(/[?[]/g, '[$&]'))}`,
  })
  // Not kept as a compiled statement: each set of conditions is another text.
  const found = log.db.prepare(`
    select e.seq, ?3 as now from hookonce_events e
    left join hookonce_work w on w.seq = e.seq left join hookonce_duplicates d on d.seq = e.seq
    where e.seq in (select value from json_each(?1)) and ${[...checks, 'true'].join(' and ')}
    order by e.seq desc limit ?2`)
  return found.all(...values).map((row) => Number(row.seq))
}

const range = 'seq < ? and seq >= ? order by seq desc limit ?'
const events = 'select seq from hookonce_events'
const work = 'select seq from hookonce_work'
const duplicates = 'select seq from hookonce_duplicates'
const ranges: Readonly<Record<ListIndex, string>> = {
  key: `${events} where source = ? and event_id = ? and seq < ? and seq >= ? limit ?`,
  reference: `${events} where related_reference = ? and ${range}`,
  references: `select distinct seq from hookonce_event_references where value = ? and ${range}`,
  work: `${work} where ${range}`,
  leased: `${work} where source = ? and token is not null and ${range}`,
  retrying: `${work} where source = ? and token is null and attempt > base_attempt and ${range}`,
  ignored: `${events} where parked = 'ignored' and source = ? and ${range}`,
  dead: `${events} where parked = 'dead' and source = ? and ${range}`,
  flagged: `${events} where same_as is not null and ${range}`,
  conflicts: `select seq from hookonce_conflicts where decided_at is null and source = ? and ${range}`,
  duplicates: `${duplicates} where ${range}`,
  types: `${events} where source = ? and event_type = ? and ${range}`,
  all: `${events} where ${range}`,
}

const nextType = `
  select event_type from hookonce_events where source = ? and event_type > ? order by event_type limit 1`

/** Null when there are too many pairs of source and type to merge. */
function pairsOf(log: Connection, { source, type }: EventFilter): [string, string][] | null {
  const pairs: [string, string][] = []
  let looked = 0
  for (const name of source === undefined ? sourcesOf(log) : [source]) {
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

/** One call skips at most this many events of other sources. */
const SCAN_AT_MOST = 10_000

const lastSeq = "select seq from sqlite_sequence where name = 'hookonce_events'"
const seqsAfter = 'select seq, source from hookonce_events where seq > ? order by seq limit ?'
const tailEvents = `${eventColumns('?2')} where e.seq in (select value from json_each(?1)) order by e.seq`
const prunedSince = 'select 1 from hookonce_pruned where seq > ?1 and (?2 is null or source = ?2) limit 1'

/** There is one writer at a time, so seqs are in the order of the commits. */
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
