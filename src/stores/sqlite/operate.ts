/**
 * An operator's action: each event is judged on its own by the transition table; all changes and their audits are one
 * commit.
 */
import type { Action, ActionResult, EventKey } from '../../model.js'
import { actionResult } from '../shared/operate.js'
import { writeAudit } from './audit.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { dueIn, wakeLane } from './lane.js'
import { standing, textOrNull, writeLostAttempt } from './rows.js'
import { type HourBook, hourBook } from './stats.js'
import { swapContent } from './swap-content.js'

const undo = Symbol('undo')

export function operate(connection: Connection, now: number, action: Action): ActionResult[] {
  let results: ActionResult[] = []
  try {
    connection.write(() => {
      const book = hourBook()
      results = action.events.map((key) => operateEvent(connection, now, action, key, book))
      book.write(connection)
      // A dry run does the work and rolls it back, so that an event named twice is judged as in a real run.
      if (action.dryRun) throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
  return results
}

const eventByKey = `
  select e.seq, e.source, e.received_at, e.processing_state, e.attempts, e.run, e.parked, e.lane,
    w.token, w.next_at, w.attempt, w.base_attempt, w.worker, w.claimed_at,
    exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)) as has_payload,
    exists (select 1 from hookonce_conflicts c where c.seq = e.seq) as has_conflict
  from hookonce_events e left join hookonce_work w on w.seq = e.seq
  where e.source = ? and e.event_id = ?`

function operateEvent(
  connection: Connection,
  now: number,
  action: Action,
  { source, id }: EventKey,
  book: HourBook,
): ActionResult {
  const row = connection.prepare(eventByKey).get(source, id)
  if (row === undefined) return actionResult(action, undefined)
  const hasPayload = (action.conflict ? row.has_conflict : row.has_payload) === 1
  const result = actionResult(action, { state: standing(row, now).state, hasPayload })
  if (!result.done) return result
  writeLostAttempt(connection, { ...row, token: row.token ?? null })
  if (row.parked !== null) book.add(source, Number(row.received_at), { [String(row.parked)]: -1 })
  if (action.verb === 'ignore') {
    ignoreIt(connection, now, row)
    book.add(source, Number(row.received_at), { ignored: 1 })
  } else {
    if (action.conflict) swapContent(connection, now, Number(row.seq))
    startAgain(connection, now, row, action.verb === 'replay' ? 1 : 0)
  }
  const { actor, verb, note } = action
  writeAudit(connection, now, { actor, verb, source, eventId: id, note })
  return result
}

// `attempt` keeps counting. `base_attempt` is its value at the new start, so that tries count from there.
const renewWork = `
  insert into hookonce_work (seq, source, next_at, attempt, base_attempt, lane) values (?1, ?2, ?3, ?4, ?4, ?5)
  on conflict (seq) do update set next_at = excluded.next_at, base_attempt = attempt,
    token = null, worker = null, claimed_at = null`
const reopenEvent = `
  update hookonce_events set processing_state = 'pending', parked = null, processed_at = null, reason = null,
    run = run + ? where seq = ?`

function startAgain(connection: Connection, now: number, row: Row, runs: number): void {
  const dueAt = dueIn(connection, now, String(row.source), textOrNull(row.lane), Number(row.seq))
  connection.prepare(renewWork).run(row.seq!, row.source!, dueAt, row.attempt ?? row.attempts!, row.lane!)
  connection.prepare(reopenEvent).run(runs, row.seq!)
}

const removeWork = 'delete from hookonce_work where seq = ?'
const ignoreEvent = `
  update hookonce_events set processing_state = 'ignored', reason = 'operator', parked = 'ignored',
    processed_at = ?, attempts = ? where seq = ?`

function ignoreIt(connection: Connection, now: number, row: Row): void {
  connection.prepare(removeWork).run(row.seq!)
  wakeLane(connection, now, row)
  connection.prepare(ignoreEvent).run(now, row.attempt ?? row.attempts!, row.seq!)
}
