/**
 * Other content under the id of an event is stored beside it until payloads of its age are removed. The conflict is open until
 * an operator runs the other content, and the two change places, or decides for the first.
 */
import { HookonceError } from '../../errors.js'
import type { EventKey, ignoredReasons, NewEvent } from '../../model.js'
import type { Conflict, OpenConflicts } from '../../store.js'
import { JUST_REMOVED, takeOver } from '../shared/judge.js'
import type { Connection } from './connection.js'
import { operate } from './operate.js'
import type { UnpackedDelivery } from './pack.js'
import { hexOf, rowsOf, withHeaders } from './rows.js'
import { nextNumber } from './swap-content.js'

// The bytes of an erased event must not come back. `decided_at` stays: known content does not open the conflict again.
const keep = `
  insert into hookonce_conflicts (seq, hash, number, source, first_at, at, part, headers, body)
  select ?1, ?2, ${nextNumber}, ?3, ?4, ?4, ?5, iif(e.erased_at is null, ?6, null), iif(e.erased_at is null, ?7, null)
  from hookonce_events e where e.seq = ?1 and e.content_hash is not ?2
  on conflict (seq, hash) do update set number = excluded.number, at = excluded.at, part = excluded.part,
    headers = excluded.headers, body = excluded.body`
const count = `
  insert into hookonce_duplicates (seq, count, first_at, last_at, conflicts, conflict_hash, conflict_at)
  values (?1, 1, ?3, ?3, 1, ?2, ?3)
  on conflict (seq) do update set count = count + 1, first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at), conflicts = conflicts + 1, conflict_hash = excluded.conflict_hash,
    conflict_at = excluded.conflict_at`
const exists = 'select 1 from hookonce_events where seq = ?'
const isWithheld = `
  select 1 from hookonce_events where seq = ? and processing_state = 'ignored' and reason = ?`

export interface OtherContent {
  readonly delivery: UnpackedDelivery
  readonly event: NewEvent
  readonly part: number
  readonly seq: number
}

export function keepOtherContent(log: Connection, conflicts: readonly OtherContent[]): void {
  log.write(() => {
    for (const { delivery, event, part, seq } of conflicts) {
      const { source, headers, body } = delivery
      const hash = Uint8Array.from(event.contentHash!)
      const at = delivery.receivedAt ?? log.now
      if (log.get(exists, seq) === undefined)
        throw new HookonceError('STORE_FAILED', { problem: JUST_REMOVED })
      log.run(keep, seq, hash, source, at, part, headers, Uint8Array.from(body))
      log.run(count, seq, hash, at)
    }
  })
  const replayed: (typeof ignoredReasons)[number] = 'replayed_content'
  for (const { delivery, event, seq } of conflicts)
    if (log.get(isWithheld, seq, replayed) !== undefined)
      operate(log, takeOver({ source: delivery.source, id: event.id }))
}

const latest = `
  select c.at, c.part, c.headers, c.body, ${hexOf('e.content_hash')} as contentHash, e.received_at as receivedAt
  from hookonce_events e join hookonce_conflicts c on c.seq = e.seq
  where e.source = ? and e.event_id = ? order by c.number desc limit 1`

export function conflict(log: Connection, { source, id }: EventKey): Conflict | null {
  const row = log.get(latest, source, id)
  return row === undefined || row.body === null ? null : withHeaders<Conflict>(row)
}

const knownSources = 'select source from hookonce_totals order by source'
const open = `
  select ?1 as source, count(distinct seq) as count, min(first_at) as oldestAt, count(*) = ?2 as cut from (
    select seq, first_at from hookonce_conflicts where source = ?1 and decided_at is null order by seq limit ?2)
  having count(*) > 0`

export function openConflicts(log: Connection, limit: number): OpenConflicts[] {
  return log.read(() =>
    log
      .all(knownSources)
      .flatMap(({ source }) => rowsOf<OpenConflicts>(log.all(open, source!, limit)))
      .map((row) => ({ ...row, cut: Number(row.cut) === 1 })),
  )
}
