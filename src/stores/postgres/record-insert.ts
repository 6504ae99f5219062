/**
 * One statement for a whole batch. The unique constraint decides which delivery of an event is first; looking for existing
 * rows only saves the write. The result comes after the commit, so every verdict is about committed rows.
 */
import { randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { NewDelivery, RecordVerdict } from '../../model.js'
import { repeatShare } from '../shared/duplicate-audit.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isPartitionMissing, isRefusal, isRowFailure } from './failure.js'
import { ensurePartitions, type PartitionUnit } from './partitions.js'
import { type Item, isPlain, newBatch, parameters, plainParameters, sameContent } from './record-batch.js'
import { disown, type Found, type Inserted, insert, insertPlain, lookup, reserve } from './record-sql.js'
import { standbyWait } from './replication.js'
import { texts } from './statement.js'

/** The verdict on an event, the content hash in the log, and the time of the statement. */
export interface Recorded {
  verdict: RecordVerdict
  hash: Uint8Array | null
  at: number
  /** Why the store could not record it, if that is not the fault of the sender. */
  fault?: HookonceError
}

type InsertBatch = (items: readonly Item[]) => Promise<Recorded[]>

/** Records the events, each of another key. */
export function inserter(db: Database, unit: PartitionUnit): InsertBatch {
  const slots = slotKeeper()
  const standbyHasAll = standbyWait(db)
  const repeats = repeatShare()

  /** A batch that one row may fail is split in two until the delivery with that row is found. */
  async function insertAll(items: readonly Item[], insertBatch: InsertBatch): Promise<Recorded[]> {
    if (items.length === 0) return []
    try {
      return await insertBatch(items)
    } catch (error) {
      if (!isRowFailure(error)) throw asHookonceError(error)
      const half = middleDelivery(items)
      if (half === 0) return items.map((item) => refused(item, error))
      const first = await insertAll(items.slice(0, half), insertBatch)
      return [...first, ...(await insertAll(items.slice(half), insertBatch))]
    }
  }

  /** The usual batch. Whatever the short statement cannot decide goes on to `insertAny`. */
  async function insertPlainEvents(items: readonly Item[]): Promise<Recorded[]> {
    const batch = newBatch()
    const recorded: (Recorded | undefined)[] = items.map(() => undefined)
    // Duplicates cost less by the look-up alone: it gets no bodies and writes nothing.
    let known = repeats.areLikely() ? (await find(items, recorded, batch)).length : 0
    const fresh = without(recorded)
    if (fresh.length > 0) {
      const values = plainParameters(
        fresh.map((i) => items[i]!),
        batch,
      )
      const rows = await inPartitions(items, (slot) => db.resend<Inserted>(insertPlain, [...values, slot]))
      for (const { n, seq, at } of rows) {
        const i = fresh[n - 1]!
        const hash = items[i]!.event.contentHash
        recorded[i] = { hash, at, verdict: { status: 'recorded', seq, state: 'pending' } }
      }
      known += (await find(items, recorded, batch)).length
    }
    repeats.note(known, items.length)
    // Known events may come from a commit that has not waited for the standby.
    if (known > 0) await standbyHasAll()
    // A tombstone is left of these, or retention has just removed the row that was in their way.
    const rest = without(recorded)
    const again = await insertAll(
      rest.map((i) => items[i]!),
      insertAny,
    )
    return filled(recorded, rest, again)
  }

  async function insertAny(items: readonly Item[]): Promise<Recorded[]> {
    const batch = newBatch()
    const values = parameters(items, await reservePayloads(items), batch)
    const found = await inPartitions(items, (slot) => db.resend<Found>(insert, [...values, slot]))
    const recorded = await verdictsOf(items, found, batch)
    // The commit of a new event has waited for the standby. Known events may come from a commit that has not.
    if (!found.some((row) => row.ours)) await standbyHasAll()
    return recorded
  }

  /** Runs the statement with a slot. Creates the partitions of the items when one is missing. */
  async function inPartitions<Row>(
    items: readonly Item[],
    run: (slot: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    for (let tries = 1; ; tries++) {
      const slot = slots.take()
      try {
        return await run(slot)
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

  /** Looks up the events that have no verdict yet, and adds the verdicts. Returns the indexes of those that it found. */
  async function find(
    items: readonly Item[],
    recorded: (Recorded | undefined)[],
    batch: string,
  ): Promise<{ readonly index: number; readonly contested: boolean }[]> {
    const missing = without(recorded)
    if (missing.length === 0) return []
    const lost = missing.map((i) => items[i]!)
    const rows = await db.resend<Found>(lookup, [
      texts(lost.map((item) => item.source)),
      texts(lost.map((item) => item.event.eventId)),
      texts(lost.map((item) => hex(item.event.contentHash))),
      texts(lost.map((item) => hex(item.event.guardHash))),
      batch,
    ])
    return rows.map((row) => {
      const index = missing[row.n - 1]!
      if (!row.contested) recorded[index] = asRecorded(row, items[index]!)
      return { index, contested: row.contested }
    })
  }

  /** An event that was neither found nor inserted lost a race against a commit that the statement could not see. */
  async function verdictsOf(
    items: readonly Item[],
    found: readonly Found[],
    batch: string,
  ): Promise<Recorded[]> {
    const recorded: (Recorded | undefined)[] = items.map(() => undefined)
    for (const row of found) recorded[row.n - 1] = asRecorded(row, items[row.n - 1]!)
    const lost = without(recorded).map((i) => items[i]!)
    if (lost.length === 0) return recorded as Recorded[]
    const winners = await find(items, recorded, batch)
    if (lost.some((item) => item.event.guardHash !== null))
      await db.query(disown, [
        texts(lost.map((item) => item.source)),
        texts(lost.map((item) => item.event.eventId)),
        texts(lost.map((item) => hex(item.event.guardHash))),
      ])
    const contested = new Set(winners.filter((winner) => winner.contested).map(({ index }) => index))
    for (const i of without(recorded)) {
      const { event, from } = items[i]!
      const guarded = event.guardHash !== null && from.onReplayedContent === 'reject'
      if (guarded && !contested.has(i)) recorded[i] = { verdict: { status: 'replayed' }, hash: null, at: 0 }
    }
    // Retention has removed the event that won the race, or the id is contested: these events are recorded again.
    const removed = without(recorded)
    const again = await insertAll(
      removed.map((i) => items[i]!),
      insertAny,
    )
    return filled(recorded, removed, again)
  }

  return (items) => insertAll(items, items.every(isPlain) ? insertPlainEvents : insertAny)
}

/** The indexes that have no verdict yet. */
function without(recorded: readonly (Recorded | undefined)[]): number[] {
  const missing: number[] = []
  for (let i = 0; i < recorded.length; i++) if (recorded[i] === undefined) missing.push(i)
  return missing
}

function filled(
  recorded: (Recorded | undefined)[],
  places: readonly number[],
  values: readonly Recorded[],
): Recorded[] {
  places.forEach((i, k) => {
    recorded[i] = values[k]
  })
  return recorded as Recorded[]
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

/** EVENT_REFUSED when a value of the sender is to blame. Any other failure is a fault of the store: the sender shall retry. */
function refused({ event, source }: Item, error: unknown): Recorded {
  const left = (why: HookonceError): Recorded => ({
    hash: null,
    at: 0,
    verdict: { status: 'refused', code: why.code, detail: why.message },
  })
  if (isRefusal(error))
    return left(
      new HookonceError('EVENT_REFUSED', { eventId: event.eventId, source, problem: describe(error) }),
    )
  const fault = asHookonceError(error)
  return { ...left(fault), fault }
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
