/**
 * record: a verdict on each event of the deliveries of a call.
 *
 *   insert    all in one transaction; the unique constraint decides which events are new
 *   look up   first while most events are known, or after an insert that failed: a plain read needs neither the lock nor room
 *             on the disk, and only the rest is inserted
 *   alone     where one row is to blame, each delivery in a savepoint: that one is refused, the others are recorded
 *   conflict  other content under a known id is kept beside the event (`conflicts.ts`), or its delivery is refused
 */
import { HookonceError, isHookonceError } from '../../errors.js'
import type { NewEvent, RecordVerdict } from '../../model.js'
import { repeatShare } from '../shared/duplicate-audit.js'
import { keepOtherContent, type OtherContent } from './conflicts.js'
import { type Connection, perConnection } from './connection.js'
import { describe, isBusy, isRefusal, isRowFailure, toHookonceError } from './failure.js'
import { type PackedDeliveries, unpack } from './pack.js'
import { insertion, type Judged } from './record-insert.js'
import { known } from './record-known.js'

const repeatsOf = perConnection(repeatShare)

export function record(log: Connection, packed: PackedDeliveries): RecordVerdict[] {
  const deliveries = unpack(packed)
  const repeats = repeatsOf(log)
  const judged: Judged[] = deliveries.map((delivery) => ({ delivery, verdicts: null }))
  if (repeats.areLikely()) insertUnknown(log, judged, null)
  else insertAtOnce(log, judged)
  const conflicts = judged.flatMap(otherContentOf)
  if (conflicts.length > 0) keepOrRefuse(log, judged, conflicts)
  const verdicts = judged.flatMap((each) => each.verdicts as RecordVerdict[])
  repeats.note(verdicts.filter(({ status }) => status === 'duplicate').length, verdicts.length)
  return verdicts
}

interface Unkept extends OtherContent {
  readonly judged: Judged
}

function otherContentOf(judged: Judged): Unkept[] {
  const { delivery, verdicts } = judged
  return delivery.events.flatMap((event, part) =>
    isConflict(verdicts![part]!) ? [{ judged, delivery, event, part }] : [],
  )
}

/** A sender whose other content cannot be stored must send it again. The other deliveries are recorded. */
function keepOrRefuse(log: Connection, judged: readonly Judged[], conflicts: readonly Unkept[]): void {
  const faults: HookonceError[] = []
  const verdicts = keepAll(log, conflicts, faults)
  // Not one event could be recorded: an outage.
  if (faults.length === judged.flatMap(({ delivery }) => delivery.events).length) throw faults[0]
  conflicts.forEach(({ judged, part }, i) => {
    judged.verdicts = judged.verdicts!.with(part, verdicts[i]!)
  })
}

function keepAll(
  log: Connection,
  conflicts: readonly Unkept[],
  faults: HookonceError[],
): readonly RecordVerdict[] {
  let outage: unknown = null
  try {
    return keepOtherContent(log, conflicts)
  } catch (error) {
    if (!isItsOwn(error)) outage = error
  }
  return conflicts.map((one) => {
    try {
      // The next one would fail too, perhaps after a long wait.
      if (outage !== null) throw outage
      return keepOtherContent(log, [one])[0]!
    } catch (error) {
      if (!isItsOwn(error)) outage = error
      if (!isRefusal(error)) faults.push(toHookonceError(error))
      return refused(one.delivery.source, one.event, error)
    }
  })
}

/** One content may be to blame. An error of hookonce is about an event that was removed. */
function isItsOwn(error: unknown): boolean {
  return isRowFailure(error) || isHookonceError(error)
}

function isConflict(
  verdict: RecordVerdict | null,
): verdict is Extract<RecordVerdict, { status: 'duplicate' }> {
  return verdict?.status === 'duplicate' && !verdict.equal
}

function insertAtOnce(log: Connection, judged: readonly Judged[]): void {
  try {
    insertAll(log, judged, false)
  } catch (error) {
    // Known events need neither the lock nor room on the disk.
    insertUnknown(log, judged, isBusy(error) ? null : error)
  }
}

function insertUnknown(log: Connection, judged: readonly Judged[], failure: unknown): void {
  log.read(() => {
    for (const each of judged) {
      const { source, events } = each.delivery
      each.verdicts = events.map((event) => known(log, source, event))
    }
  })
  const open = judged.filter(({ verdicts }) => verdicts!.includes(null))
  if (open.length === 0) return
  try {
    if (failure !== null) throw failure
    insertAll(log, open, true)
  } catch (error) {
    // Rare: only now is a savepoint for each delivery worth its cost.
    if (!isRowFailure(error)) throw error
    insertOrRefuse(log, open, open.length < judged.length)
  }
}

function insertAll(log: Connection, judged: readonly Judged[], waits: boolean): void {
  const verdicts = log.write(() => {
    const { insert, finish } = insertion(log)
    const verdicts = judged.map(insert)
    finish()
    return verdicts
  }, waits)
  assign(judged, verdicts)
}

function insertOrRefuse(log: Connection, judged: readonly Judged[], othersAreKnown: boolean): void {
  const faults: HookonceError[] = []
  const verdicts = log.write(() => judged.map((each) => insertAlone(log, each, faults)))
  // Not one delivery could be recorded: this is an outage and not about single deliveries.
  if (!othersAreKnown && faults.length === judged.length) throw faults[0]
  assign(judged, verdicts)
}

function assign(judged: readonly Judged[], verdicts: readonly RecordVerdict[][]): void {
  judged.forEach((each, index) => {
    each.verdicts = verdicts[index]!
  })
}

/** Adds to `faults` when the store is to blame, and not a value of the sender. */
function insertAlone(log: Connection, judged: Judged, faults: HookonceError[]): RecordVerdict[] {
  const { db } = log
  db.exec('savepoint hookonce_delivery')
  try {
    const { insert, finish } = insertion(log)
    const verdicts = insert(judged)
    finish()
    db.exec('release hookonce_delivery')
    return verdicts
  } catch (error) {
    if (!isRowFailure(error)) throw error
    db.exec('rollback to hookonce_delivery')
    db.exec('release hookonce_delivery')
    const { source, events } = judged.delivery
    if (!isRefusal(error)) faults.push(toHookonceError(error))
    return events.map((event) => refused(source, event, error))
  }
}

function refused(source: string, { id }: NewEvent, error: unknown): RecordVerdict {
  const { code, message } = isRefusal(error)
    ? new HookonceError('EVENT_REFUSED', { source, eventId: id, problem: describe(error) })
    : toHookonceError(error)
  return { status: 'refused', code, detail: message }
}
