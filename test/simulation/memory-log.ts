/**
 * A log in memory, for the simulation: the model of the property tests behind the contract of a store. It passes the
 * store contract, so a failure of the simulation is one of intake or processing.
 */
import { type EventKey, type EventRecord, HookonceError, type Store } from 'hookonce'
import type {
  ClaimedEvent,
  ClaimOptions,
  Grants,
  Keys,
  Log,
  NewDelivery,
  NewEvent,
  News,
  RecordClaim,
  RecordVerdict,
  Settlement,
  StoreTransaction,
  TransactionKeys,
} from 'hookonce/testing/contracts'
import { limits } from '#dist/model.js'
import * as check from '#dist/store/input.js'
import { DEFAULT_PAGE, decodeCursor, encodeCursor } from '#dist/stores/shared/list.js'
import { type MemoryEffect, MemoryHistory } from '../model/memory-history.js'
import {
  advance,
  effect,
  emptyModel,
  extend,
  holder,
  isBlocked,
  lossesOf,
  type Model,
  type ModelEvent,
  nameOf,
  operate,
  record,
  release,
  settle,
  stateOf,
  take,
} from '../property/model.js'
import { MemoryGrants } from './memory-grants.js'
import { matches, toRecord } from './memory-records.js'

/** The `ctx.tx` of this store: rows that are kept when the transaction commits. */
export interface MemoryTx {
  insert(value: string, attempt?: number): Promise<void>
}

export interface MemoryLogOptions {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 to 1. Makes tokens. */
  random(): number
}

interface HeldKey {
  token: string | null
  until: number
  result: string | null
  expiresAt: number | null
}

export class MemoryLog {
  readonly model: Model = emptyModel()
  /** The committed rows of handlers. */
  readonly effects: MemoryEffect[] = []
  readonly history = new MemoryHistory(this.model, this.effects)
  readonly #options: MemoryLogOptions
  readonly #keys = new Map<string, HeldKey>()
  readonly #lastDeliveryAt = new Map<number, number>()
  readonly #subscribers = new Set<(news: News) => void>()
  /** Events with an outcome in a transaction that is still open. */
  readonly #locked = new Map<number, Promise<void>>()
  readonly #turns = new Map<string, number>()
  readonly #grants = new MemoryGrants(this.model)
  #migrated = false
  #turn = 0

  constructor(options: MemoryLogOptions) {
    this.#options = options
  }

  open(): Store<MemoryTx> {
    let closed = false
    const own = new Set<(news: News) => void>()
    /** Checks, brings the model's clock up to date, and lets the caller wait as for any other store. */
    const call = async <T>(work: () => T, needsSchema = true): Promise<T> => {
      if (closed) throw new HookonceError('STORE_CLOSED')
      if (needsSchema && !this.#migrated) throw new HookonceError('SCHEMA_MISSING', { found: 0, known: 1 })
      this.model.now = this.#options.now()
      const value = work()
      this.history.note()
      return value
    }
    const log: Log<MemoryTx> & { keys: Keys; grants: Grants } = {
      name: 'memory',
      singleWriter: false,
      migrate: () =>
        call(() => {
          const applied = this.#migrated ? [] : [1]
          const from = this.#migrated ? 1 : 0
          this.#migrated = true
          return { from, to: 1, applied }
        }, false),
      record: async (deliveries, claim) => {
        if (claim) check.checkRecordClaim(claim)
        return call(() => this.#record(deliveries, claim))
      },
      claim: async (options) => {
        check.checkClaim(options)
        return call(() => this.#claim(options))
      },
      extend: async (leases, leaseMs) => {
        check.checkLeaseMs(leaseMs)
        for (const { seq } of leases) await this.#locked.get(seq)
        return call(() => leases.map((lease) => extend(this.model, lease, leaseMs)))
      },
      settle: async (settlements) => {
        settlements.forEach(check.checkSettlement)
        for (const { lease } of settlements) await this.#locked.get(lease.seq)
        return call(() => settlements.map((settlement) => this.#settle(settlement)))
      },
      release: async (leases, delayMs = 0) => {
        check.checkDelayMs('delayMs', delayMs)
        for (const { seq } of leases) await this.#locked.get(seq)
        return call(() => leases.map((lease) => release(this.model, lease, delayMs)))
      },
      transaction: () => call(() => this.#transaction(call)),
      operate: async (order) => {
        check.checkAction(order)
        const results = await call(() => operate(this.model, order))
        if (!order.dryRun) this.#wake()
        return results
      },
      get: async (key) => {
        check.checkKey(key)
        return call(() => this.#get(key))
      },
      list: async (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) => {
        check.checkFilter(filter)
        check.checkCount('limit', limit, 500)
        const below = cursor === null ? Number.POSITIVE_INFINITY : decodeCursor(cursor)
        return call(() => {
          const found = this.#records()
            .filter((event) => event.seq < below && matches(event, filter))
            .reverse()
          const events = found.slice(0, limit)
          return { events, next: found.length > limit ? encodeCursor(events.at(-1)!.seq) : null }
        })
      },
      tail: async (options) => {
        check.checkTail(options)
        const { after, limit, source } = options
        return call(() => {
          const later = this.#records().filter(({ seq }) => seq > after)
          const events = later.filter((e) => source === undefined || e.source === source).slice(0, limit)
          const isWhole = events.length < limit
          const position = isWhole ? Math.max(after, later.at(-1)?.seq ?? 0) : events.at(-1)!.seq
          return { events, position, gap: false }
        })
      },
      stats: () => call(() => this.#stats()),
      subscribe: (wake) =>
        call(() => {
          this.#subscribers.add(wake)
          own.add(wake)
          return async () => {
            own.delete(wake)
            this.#subscribers.delete(wake)
          }
        }),
      ping: () => call(() => this.model.now),
      close: async () => {
        closed = true
        for (const wake of own) this.#subscribers.delete(wake)
      },
      keys: {
        effect: async (step) => {
          check.checkEffect(step)
          return call(() => effect(this.model, step))
        },
        key: async (step) => {
          check.checkKeyStep(step)
          return call(() => this.#key(step))
        },
        watermark: async (source, key) => {
          check.checkWatermark({ source, key, value: 0 })
          return call(() => this.model.watermarks.get(nameOf(source, key)) ?? null)
        },
      },
      grants: this.#grants.open(call),
    }
    return log
  }

  #record(deliveries: readonly NewDelivery[], claim?: RecordClaim): RecordVerdict[][] {
    let isNew = false
    const verdicts = deliveries.map((delivery): RecordVerdict[] => {
      const refused = check.refusal(delivery)
      if (refused) return refused
      const copy = { ...delivery, body: Uint8Array.from(delivery.body) }
      const at = Math.round(delivery.receivedAt ?? this.model.now)
      const seqs = copy.events.map(() => ++this.model.lastSeq)
      const [own] = record(this.model, [copy], () => at, [seqs])
      for (const verdict of own!) {
        if (verdict.status === 'recorded') {
          isNew = true
          this.#lastDeliveryAt.set(verdict.seq, at)
        } else if (verdict.status === 'duplicate') {
          const before = this.#lastDeliveryAt.get(verdict.seq)!
          this.#lastDeliveryAt.set(verdict.seq, Math.max(before, this.model.now))
        }
      }
      return own!.map((verdict, i) => this.#lease(delivery.source, delivery.events[i]!, verdict, claim))
    })
    if (isNew) this.#wake()
    return verdicts
  }

  #lease(source: string, event: NewEvent, verdict: RecordVerdict, claim?: RecordClaim): RecordVerdict {
    const token = claim?.tokens.get(event)
    if (!claim || !token || verdict.status !== 'recorded') return verdict
    const one = this.model.events.get(nameOf(source, event.id))!
    if (!one.work || isBlocked(this.model, one)) return verdict
    take(this.model, one, { seq: one.seq, token }, claim.worker, claim.leaseMs)
    return { ...verdict, leasedAt: this.model.now }
  }

  /** Other processes hear of it a moment later. */
  #wake(): void {
    for (const wake of this.#subscribers) setTimeout(() => this.#subscribers.has(wake) && wake('events'), 1)
  }

  #claim({ worker, limit, leaseMs, sources, except = [], event }: ClaimOptions): ClaimedEvent[] {
    const { model } = this
    const lanes = this.#lanes()
    const isFree = (one: ModelEvent) => {
      const lane = laneOf(one)
      return lane === null || (lanes.get(lane)!.head === one && !lanes.get(lane)!.leased)
    }
    const free = [...model.events.values()].filter(
      (one) =>
        one.work !== null &&
        !this.#locked.has(one.seq) &&
        stateOf(one, model.now) !== 'processing' &&
        isFree(one),
    )
    const due = event
      ? free.filter((one) => one.source === event.source && one.id === event.id)
      : free.filter(
          (one) =>
            one.work!.nextAt <= model.now &&
            (!sources || sources.includes(one.source)) &&
            !except.some(({ source, type }) => source === one.source && type === one.event.type),
        )
    const picked = this.#fairly(due, limit)
    const bodies = picked.map(({ payload }, i) =>
      picked.findIndex((one) => one.payload === payload) === i ? payload.body.byteLength : 0,
    )
    const fits = (i: number) =>
      i === 0 || bodies.slice(0, i + 1).reduce((sum, bytes) => sum + bytes, 0) <= limits.claimBytes
    const claimed = picked.filter((_, i) => fits(i)).map((one) => this.#take(one, worker, leaseMs))
    return claimed.map((one) => this.#asClaimed(one))
  }

  /** Of each lane the event with the lowest seq, and whether another one is leased: as `isBlocked`, in one pass. */
  #lanes(): Map<string, { head: ModelEvent; leased: boolean }> {
    const lanes = new Map<string, { head: ModelEvent; leased: boolean }>()
    for (const one of this.model.events.values()) {
      const name = one.work === null ? null : laneOf(one)
      if (name === null) continue
      const lane = lanes.get(name) ?? { head: one, leased: false }
      lanes.set(name, lane)
      if (one.seq < lane.head.seq) lane.head = one
      if (stateOf(one, this.model.now) === 'processing') lane.leased = true
    }
    return lanes
  }

  /** An equal share for every source, the least recently served first; oldest due first. */
  #fairly(due: ModelEvent[], limit: number): ModelEvent[] {
    const byDue = (a: ModelEvent, b: ModelEvent) => a.work!.nextAt - b.work!.nextAt || a.seq - b.seq
    const bySource = new Map<string, ModelEvent[]>()
    for (const one of due.sort(byDue)) bySource.set(one.source, [...(bySource.get(one.source) ?? []), one])
    const order = [...bySource].sort(([a], [b]) => (this.#turns.get(a) ?? 0) - (this.#turns.get(b) ?? 0))
    this.#turn++
    const picked: ModelEvent[] = []
    for (let round = 0; picked.length < limit && order.some(([, list]) => list.length > round); round++)
      for (const [source, list] of order)
        if (picked.length < limit && list[round]) {
          picked.push(list[round]!)
          this.#turns.set(source, this.#turn)
        }
    return picked.sort(byDue)
  }

  #take(one: ModelEvent, worker: string, leaseMs: number): ModelEvent {
    const digits = () => Math.floor(this.#options.random() * 2 ** 52).toString(16)
    take(this.model, one, { seq: one.seq, token: `${digits()}.${digits()}` }, worker, leaseMs)
    return one
  }

  #settle({ lease, outcome, references = [] }: Settlement): boolean {
    const event = holder(this.model, lease)
    const settled = settle(this.model, lease, rounded(outcome))
    if (settled && outcome.kind !== 'failed') event!.otherReferences.push(...references)
    return settled
  }

  #asClaimed(one: ModelEvent): ClaimedEvent {
    const { attempt, base, token } = one.work!
    return {
      source: one.source,
      id: one.id,
      lease: { seq: one.seq, token: token! },
      type: one.event.type,
      reference: one.event.reference,
      receivedAt: one.receivedAt,
      attempt,
      tries: attempt - base,
      losses: lossesOf(one),
      run: one.run,
      part: one.part,
      contentHash: one.event.contentHash && Buffer.from(one.event.contentHash).toString('hex'),
      headers: one.payload.headers,
      body: one.payload.kept ? one.payload.body : null,
    }
  }

  #transaction(call: <T>(work: () => T) => Promise<T>): StoreTransaction<MemoryTx> {
    const { model } = this
    const staged: (() => void)[] = []
    const locks: number[] = []
    let over: string | null = null
    let unlock = (): void => {}
    const ended = new Promise<void>((resolve) => {
      unlock = resolve
    })
    const open = <T>(work: () => T): Promise<T> =>
      call(() => {
        if (over) throw new HookonceError('TRANSACTION_CLOSED', { problem: over })
        return work()
      })
    const end = (how: string) => {
      over = how
      for (const seq of locks) this.#locked.delete(seq)
      unlock()
    }
    const commit = () => {
      for (const step of staged) step()
      end('it was committed')
    }
    const settleAll = (settlements: readonly Settlement[]) =>
      settlements.map((settlement) => {
        const { lease } = settlement
        if (locks.includes(lease.seq) || holder(model, lease) === null) return false
        locks.push(lease.seq)
        this.#locked.set(lease.seq, ended)
        this.history.settles(lease.seq)
        // The lease may end between here and the commit: the row is locked, so nobody else can take it.
        const work = holder(model, lease)!.work!
        staged.push(() => {
          work.nextAt = Math.max(work.nextAt, model.now + 1)
          this.#settle(settlement)
        })
        return true
      })
    /** Runs `work` when no other open transaction has settled one of these events. */
    const whenFree = async <T>(settlements: readonly Settlement[], work: () => T): Promise<T> => {
      settlements.forEach(check.checkSettlement)
      const waitsFor = () =>
        settlements.map(({ lease }) => this.#locked.get(lease.seq)).find((lock) => lock && lock !== ended)
      for (;;) {
        await waitsFor()
        const done = await open(() => (waitsFor() ? null : { value: work() }))
        if (done) return done.value
      }
    }
    const moved = new Map<string, number>()
    const keys: TransactionKeys = {
      effect: async (step) => {
        check.checkEffect(step)
        return open(() => {
          const event = holder(model, step.lease)
          const before = new Map(event?.effects)
          const state = effect(model, step)
          if (!event) return state
          const after = new Map(event.effects)
          // Not kept unless it commits.
          restore(event.effects, before)
          staged.push(() => restore(event.effects, after))
          return state
        })
      },
      advance: async (watermark) => {
        check.checkWatermark(watermark)
        return open(() => {
          const name = nameOf(watermark.source, watermark.key)
          const known = moved.get(name) ?? model.watermarks.get(name)
          if (known !== undefined && known > watermark.value) return false
          moved.set(name, watermark.value)
          staged.push(() => void advance(model, watermark))
          return true
        })
      },
    }
    return {
      tx: {
        insert: (event, attempt = 0) =>
          open(() => void staged.push(() => void this.effects.push({ event, attempt }))),
      },
      settle: (settlements) => whenFree(settlements, () => settleAll(settlements)),
      finish: (settlements) =>
        whenFree(settlements, () => {
          const isWhole = settleAll(settlements).every(Boolean)
          if (isWhole) commit()
          else end('it was rolled back')
          return isWhole
        }),
      commit: () => open(commit),
      rollback: async () => {
        if (!over) end('it was rolled back')
      },
      keys,
    }
  }

  #key(step: Parameters<Keys['key']>[0]): Awaited<ReturnType<Keys['key']>> {
    const { now } = this.model
    const known = this.#keys.get(step.key)
    const held = known && known.expiresAt !== null && known.expiresAt <= now ? undefined : known
    if (step.step === 'take') {
      if (held?.result != null) return { state: 'finished', result: held.result }
      if (held?.token != null && held.until > now) return { state: 'busy' }
      const token = `${Math.floor(this.#options.random() * 2 ** 52).toString(16)}.${this.#keys.size}`
      this.#keys.set(step.key, { token, until: now + step.leaseMs, result: null, expiresAt: null })
      return { state: 'taken', token }
    }
    if (!held || held.token !== step.token || held.result !== null || held.until <= now)
      return { state: 'fenced' }
    if (step.step === 'extend') held.until = now + step.leaseMs
    else if (step.step === 'drop') this.#keys.delete(step.key)
    else {
      held.result = step.result
      held.expiresAt = step.ttlMs === null ? null : now + step.ttlMs
    }
    return { state: 'ok' }
  }

  #get({ source, id }: EventKey): EventRecord | null {
    const found = this.model.events.get(nameOf(source, id))
    return found ? this.#asRecord(found) : null
  }

  #asRecord(event: ModelEvent): EventRecord {
    return toRecord(event, this.model.now, this.#lastDeliveryAt.get(event.seq)!)
  }

  /** In the order in which they were recorded. */
  #records(): EventRecord[] {
    return [...this.model.events.values()].sort((a, b) => a.seq - b.seq).map((event) => this.#asRecord(event))
  }

  #stats() {
    const records = this.#records()
    return [...new Set(records.map(({ source }) => source))].sort().map((source) => {
      const own = records.filter((event) => event.source === source)
      const count = (is: (event: EventRecord) => boolean) => own.filter(is).length
      const due = [...this.model.events.values()].filter(
        (event) =>
          event.source === source &&
          event.work !== null &&
          event.work.nextAt <= this.model.now &&
          !isBlocked(this.model, event),
      )
      return {
        source,
        recorded: own.length,
        pending: count(({ state }) => state === 'pending'),
        processing: count(({ state }) => state === 'processing'),
        retrying: count(({ state, nextAttemptAt }) => state === 'failed' && nextAttemptAt !== null),
        succeeded: count(({ state }) => state === 'succeeded'),
        ignored: count(({ state }) => state === 'ignored'),
        dead: count(({ state, nextAttemptAt }) => state === 'failed' && nextAttemptAt === null),
        oldestDueAt: due.length === 0 ? null : Math.min(...due.map((event) => event.work!.nextAt)),
      }
    })
  }
}

function laneOf({ source, event }: ModelEvent): string | null {
  return event.lane == null ? null : nameOf(source, event.lane)
}

function restore<K, V>(to: Map<K, V>, from: ReadonlyMap<K, V>): void {
  to.clear()
  for (const [key, value] of from) to.set(key, value)
}

function rounded(outcome: Settlement['outcome']): Settlement['outcome'] {
  if (outcome.kind !== 'failed' || outcome.retryInMs === null) return outcome
  return { ...outcome, retryInMs: Math.round(outcome.retryInMs) }
}
