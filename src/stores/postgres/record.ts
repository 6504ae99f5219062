/**
 * record: one statement for a whole batch. The unique constraint decides who is first; the join with what is already
 * there only saves the write. An answer goes out after the commit, so every verdict is about committed rows.
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
import { texts } from './statement.js'

/** What the log says about an event: the verdict, the content hash it holds, and when that was. */
interface Recorded {
  verdict: RecordVerdict
  hash: Uint8Array | null
  at: number
}

export function recorder(db: Database, audit: DuplicateAudit, unit: PartitionUnit) {
  const slots = slotKeeper()

  async function record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const verdicts = deliveries.map((delivery) => refusal(delivery) ?? [])
    const { firsts, repeats } = foldBatch(deliveries, (d) => verdicts[d]!.length > 0)
    const recorded = await insertAll(firsts.map((first) => ({ ...first, from: deliveries[first.delivery]! })))
    const answer = ({ delivery, part, event }: BatchEvent, { verdict, hash, at }: Recorded): void => {
      verdicts[delivery]![part] = verdict
      if (verdict.status === 'duplicate')
        audit.note(verdict.seq, at, verdict.equal ? null : (event.contentHash ?? hash))
    }
    firsts.forEach((first, i) => {
      answer(first, recorded[i]!)
    })
    let open = repeats.filter((repeat) => {
      const first = recorded[repeat.first]!
      // A delivery that was refused was left out whole; within it, the first speaks for its repeats.
      const refusedWhole =
        first.verdict.status === 'refused' && firsts[repeat.first]!.delivery === repeat.delivery
      if (
        isLeftOut(first) ? !refusedWhole : contests(repeat.event, firsts[repeat.first]!.event, first.verdict)
      )
        return true
      answer(repeat, repeated(first, repeat))
      return false
    })
    // The first says nothing about these, because it was left out or has other signed content: the next of them stands
    // for itself, and so on.
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

  /** A batch that fails because of one row is cut in two until that row stands alone. */
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
        return await verdictsOf(items, await db.resend<Found>(insert, [...values, slot]))
      } catch (error) {
        if (!isPartitionMissing(error)) throw error
        // Its partition is on its way out; it will be gone, and a new one can be made, in a moment.
        if (tries === 3) throw new HookonceError('STORE_BUSY', { problem: 'a partition is being dropped' })
        for (const at of new Set(items.map((item) => item.from.receivedAt ?? null)))
          await db.query(ensurePartitions, [at, at === null ? 1 : 0, unit])
      } finally {
        slots.giveBack(slot)
      }
    }
  }

  /** Events that share a payload need its number before they have their own. */
  async function reservePayloads(items: readonly Item[]): Promise<Map<NewDelivery, number>> {
    const shared = [...new Set(items.map((item) => item.from))].filter(
      (delivery) => delivery.events.length > 1,
    )
    if (shared.length === 0) return new Map()
    const reserved = await db.query<{ seq: number }>(reserve, [shared.length])
    return new Map(shared.map((delivery, i) => [delivery, reserved[i]!.seq]))
  }

  /** A row that was neither found nor inserted lost a race against a commit the statement could not see. */
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
    // The winner was removed in between by retention, or its id is contested: what is left is judged anew.
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

/** Other content under the same id: whether it must be kept beside the first is for the log to say. */
function contests(event: NewEvent, first: NewEvent, verdict: RecordVerdict): boolean {
  if (contestedId(event) === contestedId(first)) return false
  if (verdict.status === 'retired') return true
  if (event.guardHash === null) return false
  const otherSigned = first.guardHash === null || !sameContent(first.guardHash, event.guardHash)
  return otherSigned || ('storedAs' in verdict && verdict.storedAs !== undefined)
}

/** Repeats of one id with one content: what becomes of the first of them is true of all. */
function isAlike(one: BatchEvent & { first: number }, other: BatchEvent & { first: number }): boolean {
  return one.first === other.first && contestedId(one.event) === contestedId(other.event)
}

function isLeftOut({ verdict }: Recorded): boolean {
  return verdict.status === 'refused' || verdict.status === 'replayed'
}

function refused({ event, source }: Item, problem: string): Recorded {
  const error = new HookonceError('EVENT_REFUSED', { eventId: event.eventId, source, problem })
  return { hash: null, at: 0, verdict: { status: 'refused', code: error.code, detail: error.message } }
}

/** Where to cut a batch in two without cutting a delivery; 0 when it holds only one. */
function middleDelivery(items: readonly Item[]): number {
  const starts = items.flatMap((item, i) => (i > 0 && item.delivery !== items[i - 1]!.delivery ? [i] : []))
  return starts[Math.floor(starts.length / 2)] ?? 0
}

function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}

/**
 * Concurrent batches must not wait for one counter row: each under way has a slot, and each process starts at a random
 * one. Two processes in one slot wait for each other's commit and stay right.
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
