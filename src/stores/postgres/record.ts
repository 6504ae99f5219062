/**
 * record: a verdict on each event of a batch of deliveries.
 *
 *   fold      one insert cannot take a key twice: the first event of each key is inserted, the others are repeats
 *   insert    the unique constraint decides whether an event is new (`record-insert.ts`)
 *   judge     the verdict, from the row that was found or written; a repeat is judged by the row of its first
 *   again     when the first was not stored, the next event of its key is the first of another round
 *   conflict  other content under a known id is kept beside the event before anyone is answered (`duplicates.ts`), or
 *             its delivery is refused
 */
import type { NewDelivery, RecordClaim, RecordVerdict } from '../../model.js'
import type { DuplicateAudit } from '../shared/duplicate-audit.js'
import { judge } from '../shared/judge.js'
import type { Database } from './connection/database.js'
import { keepOtherContent, type OtherContent } from './duplicates.js'
import { type BatchEvent, eventsOf, fold, sameContent } from './record-batch.js'
import { Inserter, type Recorded, refused, type Stored, type Unstored } from './record-insert.js'

export function recorder(db: Database, audit: DuplicateAudit) {
  const inserter = new Inserter(db)

  return async function record(
    deliveries: readonly NewDelivery[],
    claim?: RecordClaim,
  ): Promise<RecordVerdict[][]> {
    const verdicts = deliveries.map((): RecordVerdict[] => [])
    const faults: Unstored[] = []
    const conflicts: OtherContent[] = []
    const by = { worker: claim?.worker ?? '', leaseMs: claim?.leaseMs ?? 0 }
    let unanswered = eventsOf(deliveries, claim)
    while (unanswered.length > 0) {
      const { firsts, repeats } = fold(unanswered)
      const results = await inserter.insert(firsts, by)
      firsts.forEach((event, i) => {
        answer(event, results[i]!)
      })
      unanswered = []
      // A repeat after an unanswered one of its key waits too: it may be the duplicate of that one.
      const again = new Set<number>()
      for (const { event, first } of repeats) {
        const result = results[first]!
        if (result.found && result.found.seq !== null) answer(event, repeated(result, event))
        else if (!again.has(first) && sharesFate(result, firsts[first]!, event)) answer(event, result)
        else {
          again.add(first)
          unanswered.push(event)
        }
      }
    }
    for (const conflict of conflicts) await keepOrRefuse(conflict)
    // Not one event could be recorded: an outage.
    if (faults.length > 0 && faults.length === verdicts.flat().length) throw faults[0]!.fault
    return verdicts

    async function keepOrRefuse(conflict: OtherContent): Promise<void> {
      const { event, seq, at } = conflict
      try {
        const verdict = await keepOtherContent(db, conflict)
        verdicts[event.delivery]![event.index] = verdict
        if (verdict.status === 'duplicate' && verdict.equal) audit.note(seq, at)
      } catch (error) {
        answer(event, refused(event, error))
      }
    }

    function answer(event: BatchEvent, result: Recorded): void {
      const { delivery, index } = event
      if (!result.found) {
        verdicts[delivery]![index] = result.verdict
        if (result.fault) faults.push(result)
        return
      }
      const verdict = judge(result.found)
      verdicts[delivery]![index] = verdict
      if (verdict.status !== 'duplicate') return
      // Nobody has delivered it again.
      if (event.from.origin === 'backfill') return
      if (verdict.equal) audit.note(verdict.seq, result.at)
      else conflicts.push({ event, seq: verdict.seq, at: result.at })
    }
  }
}

function repeated(first: Stored, { event }: BatchEvent): Recorded {
  const equal = sameContent(first.hash, event.contentHash)
  return { ...first, found: { ...first.found, isNew: false, equal } }
}

/** They are refused together, or both repeat the same signed content. */
function sharesFate(result: Recorded, first: BatchEvent, repeat: BatchEvent): boolean {
  if (!result.found) return first.delivery === repeat.delivery
  const [guard, other] = [first.event.guardHash, repeat.event.guardHash]
  return (
    repeat.from.contentGuard === 'reject' && guard !== null && other !== null && sameContent(guard, other)
  )
}
