/**
 * Where a list looks: the most selective filter names the index to walk, newest first. A path is one or more
 * walks that are merged by seq; the other filters are judged on the rows found.
 */

import { globMatches, isGlob } from '../../glob.js'
import type { EventFilter } from '../../model.js'
import type { Connection } from './connection.js'
import type { SqliteValue } from './driver.js'

/** The next seqs of one index with floor <= seq < below, newest first, at most `count`. */
export type Walk = (below: number, floor: number, count: number) => number[]

/** More (source, type) pairs than this, and walking the whole log is no slower than merging them. */
const PAIRS_AT_MOST = 256

const range = 'seq < ? and seq >= ? order by seq desc limit ?'
const bySeq = `select seq from hookonce_events where ${range}`
const byReference = `select seq from hookonce_events where related_reference = ? and ${range}`
const byWork = `select seq from hookonce_work where ${range}`
const byLeased = `
  select seq from hookonce_work where source = ? and token is not null and ${range}`
const byRetrying = `
  select seq from hookonce_work where source = ? and token is null and attempt > base_attempt and ${range}`
const byParked = `select seq from hookonce_events where parked = ? and source = ? and ${range}`
const byDuplicates = `select seq from hookonce_duplicates where ${range}`
const byConflicts = `select seq from hookonce_duplicates where conflicts > 0 and ${range}`
const byFlag = `
  select seq from hookonce_events where (same_as is not null or contests is not null) and ${range}`
const byType = `select seq from hookonce_events where source = ? and event_type = ? and ${range}`
const byKey =
  'select seq from hookonce_events where source = ? and event_id = ? and seq < ? and seq >= ? limit ?'

export function pathOf(connection: Connection, filter: EventFilter): Walk[] {
  const { source, eventId, reference, state, dead, reason } = filter
  const walk = (sql: string, ...keys: SqliteValue[]): Walk => walkOf(connection, sql, keys)

  if (eventId !== undefined) return sourcesOf(connection, source).map((name) => walk(byKey, name, eventId))
  if (reference !== undefined) return [walk(byReference, reference)]
  const waiting = (sql: string) => knownSources(connection, source).map((name) => walk(sql, name))
  if (state === 'pending') return [walk(byWork)]
  if (state === 'processing') return waiting(byLeased)
  if (dead === false) return [...waiting(byRetrying), ...waiting(byLeased)]
  if (state === 'ignored') return parked(connection, 'ignored', source)
  if (dead === true) return parked(connection, 'dead', source)
  if (state === 'failed' || (reason !== undefined && state === undefined)) {
    const over = state === 'failed' ? ['dead'] : ['dead', 'ignored']
    const ended = over.flatMap((list) => parked(connection, list, source))
    return [...waiting(byRetrying), ...waiting(byLeased), ...ended]
  }
  if (filter.flagged === true) return [walk(byFlag)]
  if (filter.hasConflict === true) return [walk(byConflicts)]
  if (filter.hasDuplicates === true) return [walk(byDuplicates)]
  const pairs = pairsOf(connection, filter)
  return pairs?.map(([name, type]) => walk(byType, name, type)) ?? [walk(bySeq)]
}

function walkOf(connection: Connection, sql: string, keys: readonly SqliteValue[]): Walk {
  const statement = connection.prepare(sql)
  return (below, floor, count) => statement.all(...keys, below, floor, count).map((row) => Number(row.seq))
}

function parked(connection: Connection, list: string, source: string | undefined): Walk[] {
  const sources = source === undefined ? parkedSources(connection, list) : [source]
  return sources.map((name) => walkOf(connection, byParked, [list, name]))
}

function knownSources(connection: Connection, source: string | undefined): string[] {
  if (source !== undefined) return [source]
  return connection
    .prepare('select source from hookonce_totals')
    .all()
    .map((row) => String(row.source))
}

// Loose index scans: one look-up per distinct value, however many rows have it.

const nextParkedSource =
  'select source from hookonce_events where parked = ? and source > ? order by source limit 1'

function parkedSources(connection: Connection, list: string): string[] {
  return distinct((after) => connection.prepare(nextParkedSource).get(list, after)?.source)
}

const nextSource = 'select source from hookonce_events where source > ? order by source limit 1'

function sourcesOf(connection: Connection, source: string | undefined): string[] {
  if (source !== undefined) return [source]
  return distinct((after) => connection.prepare(nextSource).get(after)?.source)
}

function distinct(next: (after: string) => SqliteValue | undefined): string[] {
  const found: string[] = []
  for (let value = next(''); typeof value === 'string'; value = next(value)) found.push(value)
  return found
}

const nextType = `
  select event_type from hookonce_events where source = ? and event_type > ? order by event_type limit 1`

/** The (source, type) pairs a filter speaks of; null when it names neither, or there are too many to merge. */
function pairsOf(connection: Connection, { source, type }: EventFilter): [string, string][] | null {
  if (source === undefined && type === undefined) return null
  const pairs: [string, string][] = []
  let looked = 0
  for (const name of sourcesOf(connection, source)) {
    if (type !== undefined && !isGlob(type)) {
      if (pairs.push([name, type]) > PAIRS_AT_MOST) return null
      continue
    }
    for (let found = ''; ; ) {
      const next = connection.prepare(nextType).get(name, found)?.event_type
      if (typeof next !== 'string') break
      found = next
      if (++looked > PAIRS_AT_MOST) return null
      if (type === undefined || globMatches(type, found)) pairs.push([name, found])
    }
  }
  return pairs
}
