/**
 * record: one statement for a whole batch. The unique constraint decides which delivery of an event is first; the join
 * with existing rows only saves the write. The result comes after the commit, so every verdict is about committed rows.
 */
import { randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import { contestedId, type NewDelivery, type NewEvent, type RecordVerdict } from '../../model.js'
import { refusal } from '../../store/input.js'
import type { DuplicateAudit } from '../shared/duplicate-audit.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isPartitionMissing, isRowFailure } from './failure.js'
import { ensurePartitions, type PartitionUnit } from './partitions.js'
import { type BatchEvent, foldBatch, type Item, parameters, sameContent } from './record-batch.js'
import { disown, type Found, insert, lookup, reserve } from './record-sql.js'
import { standbyWait } from './replication.js'
import { texts } from './statement.js'

/** The verdict on an event, the content hash in the log, and the time of the statement. */
interface Recorded {
  verdict: RecordVerdict
  hash: Uint8Array | null
  at: number
}

export function recorder(db: Database, audit: DuplicateAudit, unit: PartitionUnit) {
  const slots = slotKeeper()
  const standbyHasAll = standbyWait(db)

  async function record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const verdicts = deliveries.map((delivery) => refusal(delivery) ?? [])
    const { firsts, repeats } = foldBatch(deliveries, (d) => verdicts[d]!.length > 0)
    const recorded = await insertAll(firsts.map((first) => ({ ...first, from: deliveries[first.delivery]! })))
    const answer = ({ delivery, index, event }: BatchEvent, { verdict, hash, at }: Recorded): void => {
      verdicts[delivery]![index] = verdict
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
    let open = repeats.filter((repeat) => {
      const first = recorded[repeat.first]!
      // A refused delivery is left out as a whole: repeats inside it are refused like the first.
      const refusedWhole =
        first.verdict.status === 'refused' && firsts[repeat.first]!.delivery === repeat.delivery
      if (
        isLeftOut(first) ? !refusedWhole : contests(repeat.event, firsts[repeat.first]!.event, first.verdict)
      )
        return true
      answer(repeat, repeated(first, repeat))
      return false
    })
    // The first event of these was left out or has other signed content, so it cannot give their verdict. The next one
    // of each kind is recorded, and gives the verdict of those that are like it.
    while (open.length > 0) {
      const heads = open.filter((repeat, i) => open.findIndex((other) => isAlike(other, repeat)) === i)
      const again = await insertAll(heads.map((head) => ({ ...head, from: deliveries[head.delivery]! })))
      heads.forEach((head, i) => {
        answer(head, again[i]!)
      })
      open = open.filter((repeat) => {
        if (heads.includes(repeat)) return false
        const head = again[heads.findIndex((other) => isAlike(other, repeat))]!
        if (isLeftOut(head)) return true
        answer(repeat, repeated(head, repeat))
        return false
      })
    }
    return verdicts
  }

  /** A batch that fails because of one row is split in two until the delivery with that row is found. */
  async function insertAll(items: readonly Item[]): Promise<Recorded[]> {
    if (items.length === 0) return []
    try {
      return await insertBatch(items)
    } catch (error) {
      if (!isRowFailure(error)) throw asHookonceError(error)
      const half = middleDelivery(items)
      if (half === 0) return items.map((item) => refused(item, describe(error)))
      return [...(await insertAll(items.slice(0, half))), ...(await insertAll(items.slice(half)))]
    }
  }

  async function insertBatch(items: readonly Item[]): Promise<Recorded[]> {
    const values = parameters(items, await reservePayloads(items))
    for (let tries = 1; ; tries++) {
      const slot = slots.take()
      try {
        const found = await db.resend<Found>(insert, [...values, slot])
        const recorded = await verdictsOf(items, found)
        // The commit of a new event has waited for the standby. Known events may come from a commit that has not.
        if (!found.some((row) => row.ours)) await standbyHasAll()
        return recorded
      } catch (error) {
        if (!isPartitionMissing(error)) throw error
        // The partition is missing or being dropped; after the drop a new one can be made.
        if (tries === 3) throw new HookonceError('STORE_BUSY', { problem: 'a partition is being dropped' })
        for (const at of new Set(items.map((item) => item.from.receivedAt ?? null)))
          await db.query(ensurePartitions, [at, at === null ? 1 : 0, unit])
      } finally {
        slots.giveBack(slot)
      }
    }
  }

  /** Events that share a payload need its seq before they have their own. */
  async function reservePayloads(items: readonly Item[]): Promise<Map<NewDelivery, number>> {
    const shared = [...new Set(items.map((item) => item.from))].filter(
      (delivery) => delivery.events.length > 1,
    )
    if (shared.length === 0) return new Map()
    const reserved = await db.query<{ seq: number }>(reserve, [shared.length])
    return new Map(shared.map((delivery, i) => [delivery, reserved[i]!.seq]))
  }

  /** An event that was neither found nor inserted lost a race against a commit that the statement could not see. */
  async function verdictsOf(items: readonly Item[], found: readonly Found[]): Promise<Recorded[]> {
    const recorded: (Recorded | undefined)[] = items.map(() => undefined)
    for (const row of found) recorded[row.n - 1] = asRecorded(row, items[row.n - 1]!)
    const missing = items.flatMap((_, i) => (recorded[i] ? [] : [i]))
    if (missing.length === 0) return recorded as Recorded[]
    const lost = missing.map((i) => items[i]!)
    const names = [texts(lost.map((item) => item.source)), texts(lost.map((item) => item.event.eventId))]
    const guards = texts(lost.map((item) => hex(item.event.guardHash)))
    const hashes = texts(lost.map((item) => hex(item.event.contentHash)))
    const winners = await db.query<Found>(lookup, [...names, hashes, guards])
    if (lost.some((item) => item.event.guardHash !== null)) await db.query(disown, [...names, guards])
    const removed: number[] = []
    for (const row of winners) {
      const i = missing[row.n - 1]!
      if (row.contested) removed.push(i)
      else recorded[i] = asRecorded(row, items[i]!)
    }
    for (const i of missing) {
      if (recorded[i] || removed.includes(i)) continue
      const { event, from } = items[i]!
      const guarded = event.guardHash !== null && from.onReplayedContent === 'reject'
      if (guarded) recorded[i] = { verdict: { status: 'replayed' }, hash: null, at: 0 }
      else removed.push(i)
    }
    // Retention has removed the event that won the race, or the id is contested: these events are recorded again.
    const again = await insertAll(removed.map((i) => items[i]!))
    removed.forEach((i, k) => {
      recorded[i] = again[k]!
    })
    return recorded as Recorded[]
  }

  return record
}

function asRecorded(row: Found, { event }: Item): Recorded {
  const { seq, content_hash: hash, at, same_as: sameAs } = row
  if (seq === null) return { hash, at, verdict: { status: sameAs === null ? 'retired' : 'replayed' } }
  const stored = row.stored_as === null ? {} : { storedAs: row.stored_as }
  if (row.ours) {
    const state = row.state === 'ignored' ? 'ignored' : 'pending'
    const same = sameAs === null ? {} : { sameAs }
    return { hash, at, verdict: { status: 'recorded', seq, state, ...same, ...stored } }
  }
  const equal = sameContent(hash, event.contentHash)
  return {
    hash,
    at,
    verdict: { status: 'duplicate', seq, state: row.state!, final: row.final, equal, ...stored },
  }
}

function repeated({ verdict, hash, at }: Recorded, { event }: BatchEvent): Recorded {
  if (verdict.status !== 'recorded' && verdict.status !== 'duplicate') return { verdict, hash, at }
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

/** Repeats with the same id and content have the same verdict. */
function isAlike(a: BatchEvent & { first: number }, b: BatchEvent & { first: number }): boolean {
  return a.first === b.first && contestedId(a.event) === contestedId(b.event)
}

function isLeftOut({ verdict }: Recorded): boolean {
  return verdict.status === 'refused' || verdict.status === 'replayed'
}

function refused({ event, source }: Item, problem: string): Recorded {
  const error = new HookonceError('EVENT_REFUSED', { eventId: event.eventId, source, problem })
  return { hash: null, at: 0, verdict: { status: 'refused', code: error.code, detail: error.message } }
}

/** The index at which to split a batch without splitting a delivery; 0 when it has only one delivery. */
function middleDelivery(items: readonly Item[]): number {
  const starts = items.flatMap((item, i) => (i > 0 && item.delivery !== items[i - 1]!.delivery ? [i] : []))
  return starts[Math.floor(starts.length / 2)] ?? 0
}

function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}

/**
 * Concurrent batches must not wait for one row of counters: each running batch has a slot, and each process starts at a
 * random slot. Two processes with the same slot wait for each other's commit; the counts stay right.
 */
function slotKeeper() {
  const base = (randomBytes(1)[0]! % 32) * 8
  const free = [7, 6, 5, 4, 3, 2, 1, 0]
  return {
    take: () => base + (free.pop() ?? 0),
    giveBack: (slot: number) => {
      if (!free.includes(slot - base)) free.push(slot - base)
    },
  }
}
