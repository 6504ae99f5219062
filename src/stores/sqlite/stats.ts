/**
 * Counters per source and hour of arrival answer `stats` and turn a time range into a seq range. A change of state is
 * counted in the hour in which the event arrived: every row stays exact and can be deleted with its last event. There is
 * one writer at a time, so one slot is enough.
 */
import type { SourceStats } from '../../model.js'
import type { Connection } from './connection.js'

export const HOUR_MS = 3_600_000

export function hourOf(instant: number): number {
  return Math.floor(instant / HOUR_MS)
}

interface HourDelta {
  recorded: number
  ignored: number
  dead: number
  firstSeq: number
  lastSeq: number
}

/** The changes of one transaction, written once at its end: a batch within one hour changes one row. */
export type HourBook = ReturnType<typeof hourBook>

type Counts = Partial<Pick<HourDelta, 'recorded' | 'ignored' | 'dead'>>

const upsert = `
  insert into hookonce_hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  values (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7)
  on conflict (source, hour, slot) do update set
    recorded = recorded + excluded.recorded,
    ignored = ignored + excluded.ignored,
    dead = dead + excluded.dead,
    first_seq = min(first_seq, excluded.first_seq),
    last_seq = max(last_seq, excluded.last_seq)`

/** It does not change the minimum of first_seq. */
const NO_SEQ = Number.MAX_SAFE_INTEGER

export function hourBook() {
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
    recorded(source: string, receivedAt: number, seq: number): void {
      const delta = deltaOf(source, receivedAt)
      delta.recorded++
      delta.firstSeq = Math.min(delta.firstSeq, seq)
      delta.lastSeq = Math.max(delta.lastSeq, seq)
    },
    add(source: string, receivedAt: number, { recorded = 0, ignored = 0, dead = 0 }: Counts): void {
      const delta = deltaOf(source, receivedAt)
      delta.recorded += recorded
      delta.ignored += ignored
      delta.dead += dead
    },
    write(log: Connection): void {
      for (const [source, hours] of sources) {
        for (const [hour, { recorded, ignored, dead, firstSeq, lastSeq }] of hours) {
          log.run(upsert, source, hour, recorded, ignored, dead, firstSeq, lastSeq)
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

export function seqRange(
  log: Connection,
  from: number,
  to: number,
  source?: string,
): { first: number; last: number } | null {
  const hours = [hourOf(from), hourOf(to - 1)]
  const row = source === undefined ? log.get(bounds, ...hours) : log.get(sourceBounds, ...hours, source)
  if (row === undefined || row.first_seq === null) return null
  return { first: Number(row.first_seq), last: Number(row.last_seq) }
}

const totals = `
  select source, recorded, ignored, dead, work from hookonce_totals where recorded > 0 order by source`

const leased = `
  select sum(next_at > ?2) as processing, sum(next_at <= ?2 and attempt - base_attempt > 1) as lost
  from (select next_at, attempt, base_attempt from hookonce_work where source = ?1 and token is not null limit ?3)`

const retrying = `
  select count(*) as n
  from (select 1 from hookonce_work where source = ?1 and token is null and attempt > base_attempt limit ?2)`

const oldestDue = `
  select next_at from hookonce_work where source = ?1 and next_at <= ?2 order by next_at limit 1`

const COUNTED = 50_000

export function stats(log: Connection): SourceStats[] {
  // One snapshot for all queries: an event settled between two of them would be counted twice or not at all.
  return log.read(() =>
    log.all(totals).map((row) => {
      const source = String(row.source)
      const leases = log.get(leased, source, log.now, COUNTED)
      const waiting = Number(log.get(retrying, source, COUNTED)!.n)
      const due = log.get(oldestDue, source, log.now)
      const processing = Number(leases?.processing ?? 0)
      const failed = Number(leases?.lost ?? 0) + waiting
      const work = Number(row.work)
      return {
        source,
        recorded: Number(row.recorded),
        pending: work - processing - failed,
        processing,
        retrying: failed,
        succeeded: Number(row.recorded) - Number(row.ignored) - Number(row.dead) - work,
        ignored: Number(row.ignored),
        dead: Number(row.dead),
        oldestDueAt: due === undefined ? null : Number(due.next_at),
        ...(waiting === COUNTED && { estimated: true as const }),
      }
    }),
  )
}
