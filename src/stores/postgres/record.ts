/**
 * record: a verdict on each event of a batch. `record-insert.ts` records the first event of each key; the repeats in the
 * same batch get their verdict from it.
 */
import type { HookonceError } from '../../errors.js'
import { contestedId, type NewDelivery, type NewEvent, type RecordVerdict } from '../../model.js'
import { refusal } from '../../store/input.js'
import type { DuplicateAudit } from '../shared/duplicate-audit.js'
import type { Database } from './database.js'
import type { PartitionUnit } from './partitions.js'
import {
  type BatchEvent,
  type FoldedBatch,
  foldBatch,
  type Item,
  inGuardOrder,
  sameContent,
} from './record-batch.js'
import { inserter, type Recorded } from './record-insert.js'

export function recorder(db: Database, audit: DuplicateAudit, unit: PartitionUnit) {
  const insert = inserter(db, unit)

  async function record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const verdicts = deliveries.map((delivery) => refusal(delivery) ?? [])
    const batch = foldBatch(deliveries, (d) => verdicts[d]!.length > 0)
    const faults: HookonceError[] = []
    for (const portion of inGuardOrder(batch)) await recordPortion(portion, deliveries, verdicts, faults)
    // Not one event could be recorded: this is an outage and not about single events.
    if (faults.length > 0 && faults.length === verdicts.flat().length) throw faults[0]
    return verdicts
  }

  async function recordPortion(
    { firsts, repeats }: FoldedBatch,
    deliveries: readonly NewDelivery[],
    verdicts: RecordVerdict[][],
    faults: HookonceError[],
  ): Promise<void> {
    const itemOf = (event: BatchEvent) => ({ ...event, from: deliveries[event.delivery]! })
    const recorded = await insert(firsts.map(itemOf))
    const answer = ({ delivery, index, event }: BatchEvent, { verdict, hash, at, fault }: Recorded): void => {
      verdicts[delivery]![index] = verdict
      if (fault) faults.push(fault)
      if (verdict.status === 'duplicate')
        audit.note(
          verdict.seq,
          at,
          verdict.equal ? null : (event.contentHash ?? hash),
          verdict.equal ? undefined : { ...deliveries[delivery]!, part: index },
        )
    }
    firsts.forEach((first, i) => {
      answer(first, recorded[i]!)
    })
    const undecided = new Set<number>()
    let open = repeats.flatMap((repeat): Open[] => {
      const first = recorded[repeat.first]!
      // Not after an undecided repeat: that one may be recorded, and those after it are then its duplicates.
      if (!undecided.has(repeat.first) && isReplayedToo(first, firsts[repeat.first]!, itemOf(repeat))) {
        answer(repeat, first)
        return []
      }
      undecided.add(repeat.first)
      // A refused delivery is left out as a whole: repeats inside it are refused like the first.
      const refusedWhole =
        first.verdict.status === 'refused' && firsts[repeat.first]!.delivery === repeat.delivery
      if (
        isLeftOut(first) ? !refusedWhole : contests(repeat.event, firsts[repeat.first]!.event, first.verdict)
      )
        return [{ ...repeat, kind: `${repeat.first} ${contestedId(repeat.event)}` }]
      answer(repeat, repeated(first, repeat))
      return []
    })
    // The first event of these was left out or has other signed content, so it cannot give their verdict. The next one
    // of each kind is recorded, and gives the verdict of those that are like it.
    while (open.length > 0) {
      const heads = new Map<string, Open>()
      for (const repeat of open) if (!heads.has(repeat.kind)) heads.set(repeat.kind, repeat)
      const again = await insert([...heads.values()].map(itemOf))
      const results = new Map([...heads.keys()].map((kind, i) => [kind, again[i]!]))
      open = open.filter((repeat) => {
        const result = results.get(repeat.kind)!
        const isHead = heads.get(repeat.kind) === repeat
        if (!isHead && isLeftOut(result)) return true
        answer(repeat, isHead ? result : repeated(result, repeat))
        return false
      })
    }
  }

  return record
}

function repeated(first: Recorded, { event }: BatchEvent): Recorded {
  const { verdict, hash, at } = first
  if (verdict.status !== 'recorded' && verdict.status !== 'duplicate') return first
  const { seq, state, storedAs } = verdict
  const final = verdict.status === 'duplicate' ? verdict.final : state === 'ignored'
  const equal = sameContent(hash, event.contentHash)
  const stored = storedAs === undefined ? {} : { storedAs }
  return { hash, at, verdict: { status: 'duplicate', seq, state, final, equal, ...stored } }
}

/** Whether the event has other content under the same id: the statement then decides if it is stored too. */
function contests(event: NewEvent, first: NewEvent, verdict: RecordVerdict): boolean {
  if (contestedId(event) === contestedId(first)) return false
  if (verdict.status === 'retired') return true
  if (event.guardHash === null) return false
  const otherSigned = first.guardHash === null || !sameContent(first.guardHash, event.guardHash)
  return otherSigned || ('storedAs' in verdict && verdict.storedAs !== undefined)
}

/** A repeat without a verdict. Those of one kind have the same id and content, and so the same verdict. */
interface Open extends BatchEvent {
  readonly kind: string
}

/**
 * Whether a repeat is rejected like the first: the same signed content, under the same policy. A refused first says nothing
 * about its repeats, because its delivery was refused as a whole.
 */
function isReplayedToo({ verdict }: Recorded, first: BatchEvent, { event, from }: Item): boolean {
  if (verdict.status !== 'replayed' || from.onReplayedContent !== 'reject') return false
  const [guard, other] = [first.event.guardHash, event.guardHash]
  return guard !== null && other !== null && sameContent(guard, other)
}

function isLeftOut({ verdict }: Recorded): boolean {
  return verdict.status === 'refused' || verdict.status === 'replayed'
}
