/** An operator's action: all changes and their audits are one commit. */
import type { Action, ActionResult, EventKey, State } from '../../model.js'
import { actionResult, auditVerb, decidesOnly, namedContent } from '../shared/operate.js'
import { writeAudit } from './audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { decideEffects } from './keys.js'
import { dueIn, wakeLane } from './lane.js'
import { stateAt, textOrNull, writeLostAttempt } from './rows.js'
import { type HourBook, hourBook } from './stats.js'
import { decideConflict, shownFirst, swapContent } from './swap-content.js'

const undo = Symbol('undo')

export function operate(log: Connection, action: Action): ActionResult[] {
  let results: ActionResult[] = []
  try {
    log.write(() => {
      const book = hourBook()
      results = action.events.map((key) => operateEvent(log, action, key, book))
      book.write(log)
      // A dry run does the work and rolls it back, so that an event named twice is judged as in a real run.
      if (action.dryRun) throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
  return results
}

const eventByKey = `
  select e.seq, e.source, e.received_at, ${stateAt('?3')} as state, e.attempts, e.run, e.parked, e.lane,
    w.token, w.next_at, w.attempt, w.base_attempt, w.worker, w.claimed_at,
    exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)) as has_payload
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where e.source = ?1 and e.event_id = ?2`

const otherContent = `
  select c.hash, c.body is not null as has_payload, c.decided_at is null as is_open from hookonce_conflicts c
  where c.seq = ?1 and c.hash = coalesce(?2, c.hash) order by ${shownFirst} limit 1`

function operateEvent(
  log: Connection,
  action: Action,
  { source, id }: EventKey,
  book: HourBook,
): ActionResult {
  const row = log.get(eventByKey, source, id, log.now)
  if (row === undefined) return actionResult(action, undefined)
  const named = namedContent(action)
  const other = action.conflict ? log.get(otherContent, row.seq!, named) : undefined
  const result = actionResult(action, {
    state: row.state as State,
    hasPayload: (action.conflict ? other : row)?.has_payload === 1,
    isOpen: other?.is_open === 1,
  })
  if (!result.done) return result
  const { actor, note } = action
  writeAudit(log, { actor, verb: auditVerb(action), source, eventId: id, note })
  if (decidesOnly(action)) {
    decideConflict(log, Number(row.seq), named)
    return result
  }
  if (other) swapContent(log, Number(row.seq), other.hash as Uint8Array)
  writeLostAttempt(log, { ...row, token: row.token ?? null })
  if (row.parked !== null) book.add(source, Number(row.received_at), { [String(row.parked)]: -1 })
  if (action.verb === 'ignore') {
    ignoreIt(log, row)
    book.add(source, Number(row.received_at), { ignored: 1 })
  } else {
    decideEffects(log, action, Number(row.seq))
    startAgain(log, row, action.verb === 'replay' ? 1 : 0)
  }
  return result
}

// `attempt` keeps counting. `base_attempt` is its value at the new start, so that tries count from there.
const renewWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?1, ?2, ?3, ?4, ?4, ?5)
  on conflict (seq) do update set next_at = excluded.next_at, base_attempt = attempt,
    token = null, worker = null, claimed_at = null`
const reopenEvent = `
  update hookonce_events set processing_state = 'pending', parked = null, withheld = null, processed_at = null,
    reason = null, run = run + ? where seq = ?`

export function startAgain(log: Connection, row: Row, runs: number): void {
  const dueAt = dueIn(log, String(row.source), textOrNull(row.lane), Number(row.seq))
  log.run(renewWork, row.seq!, row.source!, dueAt, row.attempt ?? row.attempts!, row.lane!)
  log.run(reopenEvent, runs, row.seq!)
}

const removeWork = 'delete from hookonce_work where seq = ?'
const ignoreEvent = `
  update hookonce_events set processing_state = 'ignored', reason = 'operator', parked = 'ignored',
    processed_at = ?, attempts = ? where seq = ?`

function ignoreIt(log: Connection, row: Row): void {
  log.run(removeWork, row.seq!)
  wakeLane(log, row)
  log.run(ignoreEvent, log.now, row.attempt ?? row.attempts!, row.seq!)
}
