/**
 * The counters per source and hour of arrival. They answer `stats` without reading the log and turn a time range
 * into a seq range. A change of state is booked to the hour the event arrived in, so that each row stays exact and
 * can go when its last event goes. One writer at a time, so one slot.
 */
import type { Connection } from './connection.js'

export const HOUR_MS = 3_600_000

export function hourOf(instant: number): number {
  return Math.floor(instant / HOUR_MS)
}

export interface HourDelta {
  recorded: number
  ignored: number
  dead: number
  firstSeq: number
  lastSeq: number
}

/** Deltas of one transaction, written together: a batch of one hour costs one row, not one per event. */
export interface HourBook {
  recorded(source: string, receivedAt: number, seq: number): void
  add(
    source: string,
    receivedAt: number,
    delta: Partial<Pick<HourDelta, 'recorded' | 'ignored' | 'dead'>>,
  ): void
  write(connection: Connection): void
}

const upsert = `
  insert into hookonce_hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  values (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7)
  on conflict (source, hour, slot) do update set
    recorded = recorded + excluded.recorded,
    ignored = ignored + excluded.ignored,
    dead = dead + excluded.dead,
    first_seq = min(first_seq, excluded.first_seq),
    last_seq = max(last_seq, excluded.last_seq)`

/** The largest seq there can be: as a first_seq it narrows nothing. */
const NO_SEQ = Number.MAX_SAFE_INTEGER

export function hourBook(): HourBook {
  const sources = new Map<string, Map<number, HourDelta>>()

  function deltaOf(source: string, receivedAt: number): HourDelta {
    let hours = sources.get(source)
    if (hours === undefined) {
      hours = new Map()
      sources.set(source, hours)
    }
    const hour = hourOf(receivedAt)
    let delta = hours.get(hour)
    if (delta === undefined) {
      delta = { recorded: 0, ignored: 0, dead: 0, firstSeq: NO_SEQ, lastSeq: 0 }
      hours.set(hour, delta)
    }
    return delta
  }

  return {
    recorded(source, receivedAt, seq) {
      const delta = deltaOf(source, receivedAt)
      delta.recorded++
      delta.firstSeq = Math.min(delta.firstSeq, seq)
      delta.lastSeq = Math.max(delta.lastSeq, seq)
    },
    add(source, receivedAt, { recorded = 0, ignored = 0, dead = 0 }) {
      const delta = deltaOf(source, receivedAt)
      delta.recorded += recorded
      delta.ignored += ignored
      delta.dead += dead
    },
    write(connection) {
      for (const [source, hours] of sources) {
        for (const [hour, { recorded, ignored, dead, firstSeq, lastSeq }] of hours) {
          connection.prepare(upsert).run(source, hour, recorded, ignored, dead, firstSeq, lastSeq)
        }
      }
    },
  }
}

const bounds = `
  select min(first_seq) as first_seq, max(last_seq) as last_seq from hookonce_spans
  where hour >= ?1 and hour <= ?2`
const sourceBounds = `
  select min(first_seq) as first_seq, max(last_seq) as last_seq from hookonce_hours
  where hour >= ?1 and hour <= ?2 and source = ?3`

/** The seqs between which everything that arrived in [from, to) lies; null when there is nothing. */
export function seqRange(
  connection: Connection,
  from: number,
  to: number,
  source?: string,
): { first: number; last: number } | null {
  const hours = [hourOf(from), hourOf(to - 1)]
  const row =
    source === undefined
      ? connection.prepare(bounds).get(...hours)
      : connection.prepare(sourceBounds).get(...hours, source)
  if (row === undefined || row.first_seq === null) return null
  return { first: Number(row.first_seq), last: Number(row.last_seq) }
}
