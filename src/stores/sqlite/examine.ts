import type { EventKey } from '../../model.js'
import type {
  DeadLetterGroup,
  DeadLetterOptions,
  DeadLetters,
  Effect,
  SourceTypes,
  WorkerLeases,
} from '../../store.js'
import type { Connection } from './connection.js'
import { rowsOf } from './rows.js'

const effectsByKey = `
  select f.name, f.started_at as startedAt, f.finished_at as finishedAt
  from hookonce_events e join hookonce_effects f on f.seq = e.seq
  where e.source = ? and e.event_id = ? order by f.started_at, f.name`

export function effects(log: Connection, { source, id }: EventKey): Effect[] {
  return rowsOf<Effect>(log.all(effectsByKey, source, id))
}

// ?1 source  ?2 limit. Newest first, so that the first id of a group is its newest.
const newestDead = `
  select seq, source, event_id, event_type, reason, processed_at from hookonce_events
  where parked = 'dead' and source = ?1 order by seq desc limit ?2`
// SQLite takes the id from the row with max(seq).
const groupsOf = `
  select source, type, error, count, firstAt, lastAt, eventId from (
    select source, event_type as type, reason as error, count(*) as count, min(processed_at) as firstAt,
      max(processed_at) as lastAt, max(seq) as newest, event_id as eventId
    from (${newestDead}) group by source, event_type, reason)`
const deadSources = 'select source, dead from hookonce_totals where dead > 0 order by source'

export function deadLetters(log: Connection, { source, limit }: DeadLetterOptions): DeadLetters {
  return log.read(() => {
    const sources = log.all(deadSources).filter((row) => source === undefined || row.source === source)
    // Each source gets a share, so that one with many dead letters does not hide the others.
    const share = Math.max(1, Math.floor(limit / Math.max(1, sources.length)))
    const groups = sources.flatMap((row) => rowsOf<DeadLetterGroup>(log.all(groupsOf, row.source!, share)))
    return {
      groups,
      scanned: groups.reduce((sum, { count }) => sum + count, 0),
      cut: sources.some((row) => Number(row.dead) > share),
    }
  })
}

const LEASES = 20_000
const leasesByWorker = `
  select worker, count(*) as leases, sum(next_at <= ?1) as expired, min(claimed_at) as oldestClaimedAt,
    min(case when next_at > ?1 then next_at end) as expiresAt
  from (select worker, next_at, claimed_at from hookonce_work where token is not null limit ${LEASES})
  group by worker order by worker`

export function leases(log: Connection): WorkerLeases[] {
  return rowsOf<WorkerLeases>(log.all(leasesByWorker, log.now))
}

const knownSources = 'select source from hookonce_totals where recorded > 0 order by source'
const nextType = `
  select event_type from hookonce_events where source = ? and event_type > ? order by event_type limit 1`

export function types(log: Connection, limit: number): SourceTypes[] {
  return log.read(() =>
    log.all(knownSources).map((row) => {
      const source = String(row.source)
      const found: string[] = []
      for (let after = ''; found.length <= limit; ) {
        const next = log.get(nextType, source, after)?.event_type
        if (typeof next !== 'string') break
        found.push(next)
        after = next
      }
      return { source, types: found.slice(0, limit), more: found.length > limit }
    }),
  )
}

// Byte order, like that of the unique index: the last character of Unicode is above all that can follow.
const idsByPrefix = `
  select source, event_id as id from hookonce_events
  where source = ?1 and event_id >= ?2 and event_id < ?2 || char(1114111) order by event_id limit ?3`

export function idsFrom(
  log: Connection,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): EventKey[] {
  return log.read(() =>
    log
      .all(knownSources)
      .flatMap((row) => rowsOf<EventKey>(log.all(idsByPrefix, row.source!, prefix, limit)))
      .slice(0, limit),
  )
}
