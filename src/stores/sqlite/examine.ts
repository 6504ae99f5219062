/** Reads for people, besides one event: effects, conflicts, groups of dead letters, leases, types, beginnings of ids. */
import type { EventKey } from '../../model.js'
import type { DeadLetterOptions, DeadLetters, Effect, SourceTypes, WorkerLeases } from '../../store.js'
import type { Connection } from './connection.js'
import { numberOrNull, textOrNull } from './rows.js'

const effectsByKey = `
  select f.name, f.started_at, f.finished_at
  from hookonce_events e join hookonce_effects f on f.seq = e.seq
  where e.source = ? and e.event_id = ? order by f.started_at, f.name`

export function effects(connection: Connection, _now: number, { source, id }: EventKey): Effect[] {
  return connection
    .prepare(effectsByKey)
    .all(source, id)
    .map((row) => ({
      name: String(row.name),
      startedAt: Number(row.started_at),
      finishedAt: numberOrNull(row.finished_at),
    }))
}

// ?1 source  ?2 limit. Newest first, so that the first id of a group is its newest.
const newestDead = `
  select seq, source, event_id, event_type, reason, processed_at from hookonce_events
  where parked = 'dead' and source = ?1 order by seq desc limit ?2`
const groups = `
  select source, event_type, reason, count(*) as number, min(processed_at) as first_at,
    max(processed_at) as last_at, max(seq) as newest, event_id
  from (${newestDead}) group by source, event_type, reason`
const deadSources = 'select source, dead from hookonce_totals where dead > 0 order by source'

export function deadLetters(
  connection: Connection,
  _now: number,
  { source, limit }: DeadLetterOptions,
): DeadLetters {
  return connection.read(() => {
    const sources = connection
      .prepare(deadSources)
      .all()
      .filter((row) => source === undefined || row.source === source)
    // Each source gets a share, so that one with many dead letters does not hide the others.
    const share = Math.max(1, Math.floor(limit / Math.max(1, sources.length)))
    const found = sources.flatMap((row) => connection.prepare(groups).all(row.source!, share))
    const scanned = found.reduce((sum, row) => sum + Number(row.number), 0)
    return {
      groups: found.map((row) => ({
        source: String(row.source),
        error: textOrNull(row.reason),
        type: String(row.event_type),
        count: Number(row.number),
        firstAt: Number(row.first_at),
        lastAt: Number(row.last_at),
        eventId: String(row.event_id), // of the row with the highest seq: SQLite defines this for max()
      })),
      scanned,
      cut: sources.some((row) => Number(row.dead) > share),
    }
  })
}

/** Leases that one call reads at most. */
const LEASES = 20_000
const leasesByWorker = `
  select worker, count(*) as leases, sum(next_at <= ?1) as expired, min(claimed_at) as oldest,
    min(case when next_at > ?1 then next_at end) as expires
  from (select worker, next_at, claimed_at from hookonce_work where token is not null limit ${LEASES})
  group by worker order by worker`

export function leases(connection: Connection, now: number, _args: undefined): WorkerLeases[] {
  return connection
    .prepare(leasesByWorker)
    .all(now)
    .map((row) => ({
      worker: String(row.worker),
      leases: Number(row.leases),
      expired: Number(row.expired),
      oldestClaimedAt: numberOrNull(row.oldest),
      expiresAt: numberOrNull(row.expires),
    }))
}

const knownSources = 'select source from hookonce_totals where recorded > 0 order by source'
const nextType = `
  select event_type from hookonce_events where source = ? and event_type > ? order by event_type limit 1`

export function types(connection: Connection, _now: number, limit: number): SourceTypes[] {
  return connection.read(() =>
    connection
      .prepare(knownSources)
      .all()
      .map((row) => {
        const source = String(row.source)
        const found: string[] = []
        for (let after = ''; found.length <= limit; ) {
          const next = connection.prepare(nextType).get(source, after)?.event_type
          if (typeof next !== 'string') break
          found.push(next)
          after = next
        }
        return { source, types: found.slice(0, limit), more: found.length > limit }
      }),
  )
}

// Byte order, like the unique index, which this reads: the last character is higher than any that can follow.
const idsByPrefix = `
  select source, event_id from hookonce_events
  where source = ?1 and event_id >= ?2 and event_id < ?2 || char(1114111) order by event_id limit ?3`

export function idsFrom(
  connection: Connection,
  _now: number,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): EventKey[] {
  return connection.read(() =>
    connection
      .prepare(knownSources)
      .all()
      .flatMap((row) => connection.prepare(idsByPrefix).all(row.source!, prefix, limit))
      .slice(0, limit)
      .map((row) => ({ source: String(row.source), id: String(row.event_id) })),
  )
}
