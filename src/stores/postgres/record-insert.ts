/** The results come after the commit, so every verdict is about committed rows. */
import { randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { NewDelivery, RecordVerdict } from '../../model.js'
import { repeatShare } from '../shared/duplicate-audit.js'
import { DROPPED, type Found, newlyFound } from '../shared/judge.js'
import type { Database } from './connection/database.js'
import { asHookonceError, describe, isRefusal, isRowFailure } from './connection/failure.js'
import { standbyWait } from './connection/replication.js'
import { type Statement, texts } from './connection/statement.js'
import { inPartitions } from './partitions.js'
import {
  type Batch,
  type BatchEvent,
  isPlain,
  newBatch,
  parameters,
  plainParameters,
  refers,
  sameContent,
} from './record-batch.js'
import {
  type FoundRow,
  type Inserted,
  insert,
  insertPlain,
  insertPlainReferring,
  insertReferring,
  LOST_RACE,
  lookup,
  reserve,
} from './record-sql.js'

export type Recorded = Stored | Unstored

export interface Stored {
  readonly found: Found
  readonly hash: Uint8Array | null
  readonly at: number
}

export interface Unstored {
  readonly found?: undefined
  readonly verdict: Extract<RecordVerdict, { status: 'refused' }>
  /** Set when the store is to blame, not a value of the sender. */
  readonly fault?: HookonceError
}

/** Retention may remove a known row, or another process record an event, between two statements, but hardly so often. */
const MOST_TRIES = 5

export class Inserter {
  readonly #db: Database
  readonly #slots = slotKeeper()
  readonly #standbyHasAll: () => Promise<void>
  readonly #repeats = repeatShare()

  constructor(db: Database) {
    this.#db = db
    this.#standbyHasAll = standbyWait(db)
  }

  /**
   * Splits a batch in two, when one row may have failed it, until the delivery with that row is found. A batch that has
   * lost a race is tried again first: the row of the other transaction is committed now.
   */
  async insert(
    items: readonly BatchEvent[],
    by: Batch['by'],
    tries = MOST_TRIES,
    batch = newBatch(by),
  ): Promise<Recorded[]> {
    if (items.length === 0) return []
    if (tries === 0) return items.map((item) => refused(item, dropped()))
    try {
      const recorded = await (items.every(isPlain)
        ? this.#insertPlain(items, batch)
        : this.#insertAny(items, batch))
      const rest = missing(recorded)
      const again = await this.insert(
        rest.map((i) => items[i]!),
        by,
        tries - 1,
        batch,
      )
      rest.forEach((i, k) => {
        recorded[i] = again[k]
      })
      return recorded as Recorded[]
    } catch (error) {
      const isLost = (error as { code?: unknown }).code === LOST_RACE
      if (isLost && tries > 1) return this.insert(items, by, tries - 1, batch)
      if (!isLost && !isRowFailure(error)) throw asHookonceError(error)
      const half = middleDelivery(items)
      if (half === 0) return items.map((item) => refused(item, isLost ? dropped() : error))
      const first = await this.insert(items.slice(0, half), by)
      return [...first, ...(await this.insert(items.slice(half), by))]
    }
  }

  /** An event is undefined when retention has just removed its known row, or a trigger has dropped its new one. */
  async #insertPlain(items: readonly BatchEvent[], batch: Batch): Promise<(Recorded | undefined)[]> {
    const recorded = new Array<Recorded | undefined>(items.length).fill(undefined)
    // The look-up alone costs less for duplicates: it gets no bodies and writes nothing.
    let known = this.#repeats.areLikely() ? await this.#lookUp(items, recorded, batch) : 0
    const fresh = missing(recorded)
    if (fresh.length > 0) {
      const chosen = fresh.map((i) => items[i]!)
      const sql = refers(chosen) ? insertPlainReferring : insertPlain
      const rows = await this.#write<Inserted>(items, sql, plainParameters(chosen, batch))
      for (const { n, seq, at } of rows) {
        const i = fresh[n - 1]!
        recorded[i] = inserted(seq, at, items[i]!)
      }
      known += await this.#lookUp(items, recorded, batch)
    }
    this.#repeats.note(known, items.length)
    // Known events may come from a commit that has not waited for the standby.
    if (known > 0) await this.#standbyHasAll()
    return recorded
  }

  async #insertAny(items: readonly BatchEvent[], batch: Batch): Promise<(Recorded | undefined)[]> {
    const values = parameters(items, await this.#reservePayloads(items), batch)
    const rows = await this.#write<FoundRow>(items, refers(items) ? insertReferring : insert, values)
    const recorded = new Array<Recorded | undefined>(items.length).fill(undefined)
    for (const row of rows) recorded[row.n - 1] = asRecorded(row, items[row.n - 1]!)
    // These lost a race against a commit that the statement could not see.
    await this.#lookUp(items, recorded, batch)
    if (!rows.some((row) => row.is_new)) await this.#standbyHasAll()
    return recorded
  }

  /** Returns how many it found. */
  async #lookUp(
    items: readonly BatchEvent[],
    recorded: (Recorded | undefined)[],
    batch: Batch,
  ): Promise<number> {
    const unknown = missing(recorded)
    if (unknown.length === 0) return 0
    const rows = await this.#db.resend<FoundRow>(lookup, [
      texts(unknown.map((i) => items[i]!.from.source)),
      texts(unknown.map((i) => items[i]!.event.id)),
      batch.number,
      texts(unknown.map((i) => items[i]!.token)),
    ])
    for (const row of rows) {
      const i = unknown[row.n - 1]!
      recorded[i] = asRecorded(row, items[i]!)
    }
    return rows.length
  }

  #write<Row extends object>(
    items: readonly BatchEvent[],
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const instants = () => items.map((item) => item.from.receivedAt ?? null)
    return inPartitions(this.#db, instants, async () => {
      const slot = this.#slots.take()
      try {
        return await this.#db.resend<Row>(statement, [...values, slot])
      } finally {
        this.#slots.giveBack(slot)
      }
    })
  }

  /** Events that share a payload need its seq before they have their own. */
  async #reservePayloads(items: readonly BatchEvent[]): Promise<Map<NewDelivery, number>> {
    const shared = [...new Set(items.map((item) => item.from))].filter(
      (delivery) => delivery.events.length > 1,
    )
    if (shared.length === 0) return new Map()
    const reserved = await this.#db.query<{ seq: number }>(reserve, [shared.length])
    return new Map(shared.map((delivery, i) => [delivery, reserved[i]!.seq]))
  }
}

function missing(recorded: readonly (Recorded | undefined)[]): number[] {
  const indexes: number[] = []
  for (let i = 0; i < recorded.length; i++) if (recorded[i] === undefined) indexes.push(i)
  return indexes
}

function inserted(seq: number, at: number, { event, token }: BatchEvent): Stored {
  return { found: newlyFound(seq, token === null ? null : Math.trunc(at)), hash: event.contentHash, at }
}

function asRecorded(row: FoundRow, { event }: BatchEvent): Stored {
  const { seq, state, final, content_hash: hash, same_as: sameAs, at } = row
  const leasedAt = row.leased_at === null ? null : Math.trunc(row.leased_at)
  const equal = sameContent(hash, event.contentHash)
  return { found: { seq, isNew: row.is_new, state, final, equal, sameAs, leasedAt }, hash, at }
}

function dropped(): HookonceError {
  return new HookonceError('STORE_FAILED', { problem: DROPPED })
}

/** EVENT_REFUSED when a value of the sender is to blame. After any other failure the sender shall retry. */
export function refused({ event, from: { source } }: BatchEvent, error: unknown): Unstored {
  if (isRefusal(error)) {
    const { id } = event
    const { code, message } = new HookonceError('EVENT_REFUSED', {
      eventId: id,
      source,
      problem: describe(error),
    })
    return { verdict: { status: 'refused', code, detail: message } }
  }
  const fault = asHookonceError(error)
  return { verdict: { status: 'refused', code: fault.code, detail: fault.message }, fault }
}

/** Never splits a delivery; 0 when there is only one. */
function middleDelivery(items: readonly BatchEvent[]): number {
  const starts = items.flatMap((item, i) => (i > 0 && item.delivery !== items[i - 1]!.delivery ? [i] : []))
  return starts[Math.floor(starts.length / 2)] ?? 0
}

/**
 * Concurrent batches have different slots, because they must not wait for one row of counters. Each process starts at a
 * random slot. Two processes with the same one wait for each other’s commit; the counts stay right.
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
