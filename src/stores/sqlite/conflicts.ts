/**
 * Other content under the id of an event is stored beside it until payloads of its age are removed. The conflict is open until
 * an operator runs the other content, and the two change places, or decides for the first.
 */
import { HookonceError } from '../../errors.js'
import { type EventKey, ownReference, type RecordVerdict } from '../../model.js'
import type { Conflict, OpenConflicts } from '../../store.js'
import { JUST_REMOVED, takeOverAudit, takesOver } from '../shared/judge.js'
import { contentReferencesOf, referencesOf } from '../shared/references.js'
import { writeAudit } from './audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { guardHolder, registerGuard } from './guards.js'
import { startAgain } from './operate.js'
import type { UnpackedDelivery, UnpackedEvent } from './pack.js'
import { known } from './record-known.js'
import { hexOf, rowsOf, withHeaders } from './rows.js'
import { type HourBook, hourBook } from './stats.js'
import { nextNumber, shownFirst, swapContent } from './swap-content.js'

// The bytes of an erased event must not come back. `decided_at` stays: known content does not open the conflict again.
const keep = `
  insert into hookonce_conflicts (seq, hash, number, source, first_at, at, part, headers, body)
  select ?1, ?2, ${nextNumber}, ?3, ?4, ?4, ?5, iif(e.erased_at is null, ?6, null), iif(e.erased_at is null, ?7, null)
  from hookonce_events e where e.seq = ?1
  on conflict (seq, hash) do update set number = excluded.number, at = excluded.at, part = excluded.part,
    headers = excluded.headers, body = excluded.body`
const count = `
  insert into hookonce_duplicates (seq, count, first_at, last_at, conflicts) values (?1, 1, ?2, ?2, 1)
  on conflict (seq) do update set count = count + 1, first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at), conflicts = conflicts + 1`
const withheldEvent = `
  select seq, source, received_at, attempts from hookonce_events
  where seq = ? and withheld is not null and erased_at is null`
const describeAs = `
  update hookonce_events set event_type = ?2, related_reference = ?3, reference_label = ?4, lane = ?5, same_as = ?6
  where seq = ?1`
// The event holds both contents, and is found by the references of both.
const noteReferences = `
  insert or ignore into hookonce_event_references (seq, label, value)
  select e.seq, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]')
  from hookonce_events e, json_each(?2) j
  where e.seq = ?1 and e.erased_at is null and (json_extract(j.value, '$[1]') is not e.related_reference
    or json_extract(j.value, '$[0]') not in ('${ownReference}', coalesce(e.reference_label, '')))`
const keepReference = `
  insert or ignore into hookonce_event_references (seq, label, value)
  select seq, coalesce(reference_label, '${ownReference}'), related_reference from hookonce_events
  where seq = ?1 and related_reference <> coalesce(?2, '')`

export interface OtherContent {
  readonly delivery: UnpackedDelivery
  readonly event: UnpackedEvent
  readonly part: number
}

/** All in one commit. The verdicts are made again: earlier content of the call, or an operator, may have changed the event. */
export function keepOtherContent(log: Connection, conflicts: readonly OtherContent[]): RecordVerdict[] {
  return log.write(() => {
    const book = hourBook()
    const verdicts = conflicts.map((other) => keepOne(log, other, book))
    book.write(log)
    return verdicts
  })
}

function keepOne(log: Connection, other: OtherContent, book: HourBook): RecordVerdict {
  const { delivery, event, part } = other
  const { source, headers, body } = delivery
  const verdict = known(log, source, event)
  if (verdict?.status !== 'duplicate') throw new HookonceError('STORE_FAILED', { problem: JUST_REMOVED })
  if (verdict.equal) return verdict
  const { seq } = verdict
  const hash = Uint8Array.from(event.contentHash!)
  const at = delivery.receivedAt ?? log.now
  log.run(keep, seq, hash, source, at, part, headers, Uint8Array.from(body))
  log.run(count, seq, at)
  const references = referencesOf(event.reference, event.label, event.others)
  const rows = contentReferencesOf({ reference: event.reference, references })
  if (rows !== null) log.run(noteReferences, seq, rows)
  const withheld = log.get(withheldEvent, seq)
  if (withheld === undefined) return verdict
  const sameAs = guardHolder(log, source, event)
  if (!takesOver(delivery, sameAs)) return verdict
  takeOver(log, withheld, hash, event, sameAs, book)
  return { ...verdict, state: 'pending', final: false }
}

function takeOver(
  log: Connection,
  withheld: Row,
  hash: Uint8Array,
  event: UnpackedEvent,
  sameAs: string | null,
  book: HourBook,
): void {
  const { type, reference, lane = null } = event
  const source = String(withheld.source)
  swapContent(log, Number(withheld.seq), hash)
  log.run(keepReference, withheld.seq!, reference)
  log.run(describeAs, withheld.seq!, type, reference, event.label, lane, sameAs)
  if (sameAs === null) registerGuard(log, source, event)
  book.add(source, Number(withheld.received_at), { ignored: -1 })
  startAgain(log, { ...withheld, lane }, 0)
  writeAudit(log, takeOverAudit({ source, id: event.id }))
}

const shown = `
  select c.at, ${hexOf('c.hash')} as hash, c.part, c.headers, c.body, ${hexOf('e.content_hash')} as contentHash, e.received_at as receivedAt
  from hookonce_events e join hookonce_conflicts c on c.seq = e.seq
  where e.source = ?1 and e.event_id = ?2 and c.hash = coalesce(?3, c.hash) order by ${shownFirst} limit 1`

export interface ConflictArgs {
  readonly key: EventKey
  readonly hash: string | null
}

export function conflict(log: Connection, { key: { source, id }, hash }: ConflictArgs): Conflict | null {
  const row = log.get(shown, source, id, hash && Buffer.from(hash, 'hex'))
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
