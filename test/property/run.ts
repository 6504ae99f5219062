/** Carries out commands on a store and on the model, and compares. Invariants of the design are asserted by number. */

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { EventFilter, EventKey, EventRecord } from 'hookonce'
import type {
  ClaimedEvent,
  CompleteStore,
  Keys,
  Lease,
  NewDelivery,
  Settlement,
} from 'hookonce/testing/contracts'
import type { OwnHarness } from '../support/sqlite-harness.js'
import type { Command, EffectPick, LeasePick, ListPick, SettlePick, Via } from './commands.js'
import {
  advance,
  attemptsOf,
  claimable,
  effect,
  emptyModel,
  extend,
  forget,
  hex,
  holder,
  lossesOf,
  type Model,
  type ModelEvent,
  nameOf,
  operate,
  prunable,
  pushBack,
  reasonsOf,
  record,
  release,
  settle,
  shownConflict,
  stateOf,
  take,
} from './model.js'

const MINUTE = 60_000

/** A log that several runs use one after the other, each with sources of its own. Two stores are open on it. */
export interface Log<Tx> {
  readonly harness: OwnHarness<Tx>
  readonly stores: [CompleteStore<Tx>, CompleteStore<Tx>]
  /** How far its clock is ahead of ours. */
  offsetMs: number
}

export async function openLog<Tx>(harness: OwnHarness<Tx>): Promise<Log<Tx>> {
  return { harness, stores: [await harness.open(), await harness.open()], offsetMs: 0 }
}

/** More real time than this in one run, and the model's clock says nothing any more. */
const DRIFT_AT_MOST_MS = 20_000
const HANG_MS = 10_000

/** Looking at the whole log costs more than a command does. */
const COMPARE_EVERY = 3

export class TooSlow extends Error {}

export class Run<Tx> {
  readonly #log: Log<Tx>
  readonly #name: string
  readonly #startedAt: number
  #model: Model = emptyModel()
  /** Every lease ever given out, oldest first: most of them are worthless. */
  readonly #leases: Lease[] = []
  /** As last seen, to judge moves by. */
  #seen = new Map<string, EventRecord>()
  /** Duplicates that a store may still have in memory only. */
  #unflushed = false
  /** What was done since the log was last compared. */
  readonly #since = new Set<Command['do']>()
  #worker = 0

  constructor(log: Log<Tx>, name: string) {
    this.#log = log
    this.#name = name
    this.#startedAt = Date.now() + log.offsetMs
  }

  async all(commands: readonly Command[]): Promise<void> {
    try {
      for (const [i, command] of commands.entries()) {
        // I7 is judged by what retention found.
        if (command.do === 'prune') await this.#compareLog(this.#store(command.via))
        await inTime(command, this.#carryOut(command))
        this.#since.add(command.do)
        if (command.do === 'prune' || i % COMPARE_EVERY === COMPARE_EVERY - 1)
          await this.#compareLog(this.#store(i % 2 === 0 ? 0 : 1))
      }
      await this.#flush()
      await this.#compareLog(this.#store(1))
      await this.#compareWhole()
      await this.#leaveNoWork()
    } catch (error) {
      if (this.#drift() > DRIFT_AT_MOST_MS) throw new TooSlow()
      throw error
    }
  }

  async #carryOut(command: Command): Promise<void> {
    switch (command.do) {
      case 'post':
        return this.#post(command)
      case 'claim':
        return this.#claim(command)
      case 'claim one':
        await this.#claimOne(command.via, command.event, command.leaseMs)
        return
      case 'attempt': {
        const lease = await this.#claimOne(command.via, command.event, 0.5 * MINUTE)
        if (lease) await this.#settle(command.via, [{ lease, outcome: command.outcome, durationMs: 3 }])
        return
      }
      case 'settle':
        return this.#settle(command.via, this.#settlements(command.picks))
      case 'extend': {
        const leases = this.#distinct(command.picks).map(({ lease }) => lease)
        const done = await this.#store(command.via).extend(leases, command.leaseMs)
        const expected = leases.map((lease) => extend(this.#model, lease, command.leaseMs))
        assert.deepEqual(done, expected, 'I4: a lease is extended if and only if it is alive')
        return
      }
      case 'release': {
        const leases = this.#distinct(command.picks).map(({ lease }) => lease)
        const done = await this.#store(command.via).release(leases, command.delayMs)
        const expected = leases.map((lease) => release(this.#model, lease, command.delayMs))
        assert.deepEqual(done, expected, 'I4: an event is handed back if and only if its lease is alive')
        return
      }
      case 'effect':
        return this.#effect(command.effect, (step) => this.#store(command.via).keys.effect(step))
      case 'transaction':
        return this.#transaction(command)
      case 'operate':
        return this.#operate(command)
      case 'prune':
        return this.#prune(command)
      case 'freeze':
        return this.#freeze(command)
      case 'list':
        return this.#list(command)
      case 'wait':
        return this.#wait(command.ms)
      case 'reopen':
        await this.#store(command.via).close()
        this.#log.stores[command.via] = await this.#log.harness.open()
        return
      case 'flush':
        await this.#flush()
        return this.#compareWhole()
    }
  }

  // Names. Sources, references and types are this run's own; event ids are not, and stand in both sources.

  #store(via: Via): CompleteStore<Tx> {
    return this.#log.stores[via]
  }

  #source(n: number): string {
    return `${this.#name}.${n}`
  }

  #events(): ModelEvent[] {
    return [...this.#model.events.values()]
  }

  /** One of the events there are; past the last, one there is not. */
  #pickEvent(n: number): EventKey {
    const events = this.#events()
    const found = events[n % (events.length + 1)]
    return found ? { source: found.source, id: found.id } : { source: this.#source(0), id: 'no such event' }
  }

  #pickLease({ back, forged }: LeasePick): Lease | null {
    const count = this.#leases.length
    if (count === 0) return null
    const own = this.#leases[count - 1 - (back % count)]!
    const other = this.#leases[(back * 7) % count]!
    if (forged === 'of another') return { seq: own.seq, token: other.token }
    if (forged === 'made up') return { seq: own.seq, token: randomUUID() }
    if (forged === 'garbage') return { seq: own.seq, token: "' or 1=1 --" }
    return own
  }

  /** One pick per event. */
  #distinct<P extends LeasePick>(picks: readonly P[]): { pick: P; lease: Lease }[] {
    const found = new Map<number, { pick: P; lease: Lease }>()
    for (const pick of picks) {
      const lease = this.#pickLease(pick)
      if (lease && !found.has(lease.seq)) found.set(lease.seq, { pick, lease })
    }
    return [...found.values()]
  }

  #settlements(picks: readonly SettlePick[]): Settlement[] {
    return this.#distinct(picks).map(({ pick, lease }) => ({ lease, outcome: pick.outcome, durationMs: 3 }))
  }

  // Time.

  /** Real milliseconds since the run began; the model knows only those the commands have let pass. */
  #drift(): number {
    return Date.now() + this.#log.offsetMs - this.#startedAt - this.#model.now
  }

  /** An instant of the model on the store's clock. */
  #real(at: number): number {
    return this.#startedAt + at
  }

  #near(actual: number | null, from: number, to: number, what: string): void {
    assert.ok(
      actual !== null && actual >= this.#real(from) - 5 && actual <= this.#real(to) + this.#drift() + 5,
      `${what}: ${actual === null ? null : actual - this.#startedAt} is not from ${from} to ${to}`,
    )
  }

  async #wait(ms: number): Promise<void> {
    await this.#log.harness.advance(ms)
    this.#log.offsetMs += ms
    this.#model.now += ms
  }

  // Commands.

  async #post({ via, deliveries }: Extract<Command, { do: 'post' }>): Promise<void> {
    const agesOf = new Map<Uint8Array, number>()
    const posted = deliveries.map((given): NewDelivery => {
      const source = this.#source(given.source)
      const delivery: NewDelivery = {
        source,
        headers: { 'x-run': this.#name },
        body: given.body,
        contentGuard: given.policy,
        ...(given.age !== null && { receivedAt: this.#real(this.#model.now - given.age * MINUTE) }),
        events: given.events.map((event) => ({
          id: `e${event.id}`,
          type: `${this.#name}.t${event.type}`,
          reference: event.reference === null ? null : `${this.#name} r${event.reference}`,
          contentHash: event.content === null ? null : sha256(`content ${event.content}`),
          guardHash:
            event.guard === null
              ? null
              : sha256(`guard ${given.events.find((e) => e.guard !== null)!.guard}`),
          lane: event.lane === null ? null : `lane ${event.lane}`,
        })),
      }
      agesOf.set(given.body, (given.age ?? 0) * MINUTE)
      return delivery
    })
    // Guards are judged one after the other: in one call their order is the store's business.
    const guards = new Set(posted.flatMap(guardsOf))
    const calls = guards.size > 1 ? posted.map((one) => [one]) : [posted]
    for (const call of calls) await this.#recordAll(via, call, agesOf)
  }

  async #recordAll(via: Via, posted: NewDelivery[], agesOf: Map<Uint8Array, number>): Promise<void> {
    const verdicts = await this.#store(via).record(posted)
    const seqs = verdicts.map((list) => list.map((one) => (one.status === 'recorded' ? one.seq : null)))
    const { now } = this.#model
    const expected = record(this.#model, posted, (delivery) => now - agesOf.get(delivery.body)!, seqs)
    assert.deepEqual(verdicts, expected, 'verdicts')
    this.#unflushed = true
    const fresh = seqs.flat().filter((seq) => seq !== null)
    assert.equal(new Set(fresh).size, fresh.length, 'I2: a seq for each row')
    for (const seq of fresh) assert.ok(seq > this.#model.lastSeq, 'a later record has a later seq')
    this.#model.lastSeq = Math.max(this.#model.lastSeq, ...fresh)
    // I1: what was answered is committed, so the other store sees it.
    for (const { source, events } of posted.slice(0, 1)) {
      const eventId = events[0]!.id
      const found = await this.#store(via === 0 ? 1 : 0).list({ source, id: eventId })
      const there = this.#model.events.has(nameOf(source, eventId)) ? 1 : 0
      assert.equal(found.events.length, there, 'I1, I2: one committed row for an event that was acked')
    }
  }

  async #claim({ via, sources, limit, leaseMs }: Extract<Command, { do: 'claim' }>): Promise<void> {
    const names = (sources ?? [0, 1]).map((n) => this.#source(n))
    const worker = `w${this.#worker++}`
    const looked = this.#events().filter((event) => names.includes(event.source))
    const chance = new Map(looked.map((event) => [event, claimable(this.#model, event, false)]))
    const claimed = await this.#store(via).claim({
      worker,
      limit,
      leaseMs,
      ...(sources && { sources: names }),
    })
    const taken = claimed.map((one) => this.#model.events.get(nameOf(one.source, one.id)))
    const sure = looked.filter((event) => chance.get(event) === 'yes')
    for (const event of taken) {
      assert.ok(event && chance.has(event), 'a claim gives events of the sources asked for')
      assert.notEqual(chance.get(event), 'no', `${event.id} may be claimed now`)
    }
    assert.equal(new Set(taken).size, taken.length, 'a claim gives no event twice')
    assert.ok(taken.length <= limit, 'a claim gives no more than its limit')
    assert.ok(
      taken.length >= Math.min(limit, sure.length),
      `a claim of ${limit} gave ${taken.length} though ${sure.length} are due`,
    )
    const given = taken as ModelEvent[]
    for (const left of sure.filter((event) => !given.includes(event))) {
      const passedOver = given.some((e) => e.source === left.source && e.work!.nextAt > left.work!.latest)
      assert.ok(!passedOver, 'oldest due first, in each source')
    }
    claimed.forEach((one, i) => {
      this.#take(one, given[i]!, worker, leaseMs)
    })
    pushBack(this.#model, looked)
  }

  async #claimOne(via: Via, n: number, leaseMs: number): Promise<Lease | null> {
    const key = this.#pickEvent(n)
    const event = this.#model.events.get(nameOf(key.source, key.id))
    const worker = `w${this.#worker++}`
    const expected = event !== undefined && claimable(this.#model, event, true) === 'yes'
    const [claimed, ...more] = await this.#store(via).claim({ worker, limit: 1, leaseMs, event: key })
    assert.deepEqual([claimed !== undefined, more], [expected, []], 'whether it can be claimed by name')
    if (!claimed || !event) {
      if (event) pushBack(this.#model, [event])
      return null
    }
    this.#take(claimed, event, worker, leaseMs)
    return claimed.lease
  }

  #take(claimed: ClaimedEvent, event: ModelEvent, worker: string, leaseMs: number): void {
    const { lease, receivedAt, body, headers, ...rest } = claimed
    assert.ok(!this.#leases.some((old) => old.token === lease.token), 'a token is never used twice')
    take(this.#model, event, lease, worker, leaseMs)
    this.#leases.push(lease)
    assert.deepEqual(
      rest,
      {
        source: event.source,
        id: event.id,
        type: event.event.type,
        reference: event.event.reference,
        attempt: event.work!.attempt,
        tries: event.work!.attempt - event.work!.base,
        losses: lossesOf(event),
        run: event.run,
        part: event.part,
        contentHash: event.event.contentHash && hex(event.event.contentHash),
      },
      'what a claim hands over',
    )
    assert.equal(lease.seq, event.seq)
    this.#near(receivedAt, event.receivedAt, event.receivedAt, 'receivedAt of a claim')
    assert.equal(
      body && hex(body),
      event.payload.kept ? hex(event.payload.body) : null,
      'I10: bytes of a claim',
    )
    if (event.payload.kept) assert.deepEqual({ ...headers }, event.payload.headers)
  }

  async #settle(via: Via, settlements: readonly Settlement[]): Promise<void> {
    const done = await this.#store(via).settle(settlements)
    const expected = settlements.map(({ lease, outcome }) => settle(this.#model, lease, outcome))
    assert.deepEqual(done, expected, 'I4: an outcome is written if and only if the lease is alive')
  }

  async #effect(pick: EffectPick, write: Keys['effect']): Promise<void> {
    const lease = this.#pickLease(pick)
    if (!lease) return
    const { step, name, result } = pick
    const given = step === 'finish' ? { step, lease, name, result } : { step, lease, name }
    const answer = await write(given)
    const expected = effect(this.#model, given)
    // To drop what is finished changes nothing; the contract does not say what is answered.
    if (step === 'drop' && expected.state === 'finished' && answer.state === 'new') return
    const timeless = answer.state === 'unknown' ? { ...answer, ageMs: 0 } : answer
    assert.deepEqual(timeless, expected, `${step} of effect ${name}`)
  }

  async #transaction(command: Extract<Command, { do: 'transaction' }>): Promise<void> {
    const before = structuredClone(this.#model)
    const settlements = this.#settlements(command.picks)
    const transaction = await this.#store(command.via).transaction()
    let end = command.end
    try {
      for (const pick of command.effects) await this.#effect(pick, (step) => transaction.keys!.effect(step))
      for (const { lease, outcome } of settlements) {
        // The effect of a handler that succeeded. Dead leases write too: the rollback must take it back.
        if (outcome.kind === 'succeeded') {
          const value = this.#effectOf(lease)
          await this.#log.harness.insertEffect(transaction.tx, value)
          this.#model.userEffects.set(value, (this.#model.userEffects.get(value) ?? 0) + 1)
        }
      }
      if (command.stallMs > 0) {
        await this.#wait(command.stallMs)
        before.now = this.#model.now
      }
      if (command.watermark) {
        const { key, value } = command.watermark
        const watermark = { source: this.#source(0), key: `k${key}`, value }
        assert.equal(await transaction.keys!.advance(watermark), advance(this.#model, watermark), 'watermark')
      }
      const expected = settlements.map(({ lease, outcome }) => settle(this.#model, lease, outcome))
      const settled =
        end === 'finish' ? [await transaction.finish(settlements)] : await transaction.settle(settlements)
      const all = end === 'finish' ? [!expected.includes(false)] : expected
      assert.deepEqual(settled, all, 'I4: settled in a transaction if and only if the lease is alive')
      if (settled.includes(false)) end = 'rollback'
    } catch (error) {
      await transaction.rollback()
      throw error
    }
    if (end !== 'finish') await transaction[end]()
    if (end === 'rollback') this.#model = before
    for (const { lease } of settlements) await this.#compareUserEffects(this.#effectOf(lease))
    for (const key of [0, 1]) await this.#compareWatermark(key)
  }

  /** A value of the user's table for an event and run. */
  #effectOf({ seq }: Lease): string {
    const event = this.#events().find((one) => one.seq === seq)
    return `${this.#name} ${seq} run ${event?.run ?? 'none'}`
  }

  async #compareUserEffects(value: string): Promise<void> {
    const count = await this.#log.harness.countEffects(value)
    assert.equal(count, this.#model.userEffects.get(value) ?? 0, `rows of the user, ${value}`)
    assert.ok(count <= 1, 'I3: an effect happens at most once per event and run')
  }

  async #compareWatermark(key: number): Promise<void> {
    const expected = this.#model.watermarks.get(nameOf(this.#source(0), `k${key}`)) ?? null
    assert.equal(
      await this.#store(0).keys.watermark(this.#source(0), `k${key}`),
      expected,
      'value of a watermark',
    )
  }

  async #freeze({
    via,
    event,
    takenOver,
    tries,
    outcome,
  }: Extract<Command, { do: 'freeze' }>): Promise<void> {
    const lease = await this.#claimOne(via, event, 0.5 * MINUTE)
    if (!lease) return
    await this.#wait(MINUTE)
    if (takenOver) await this.#claimOne(via === 0 ? 1 : 0, event, 1.5 * MINUTE)
    const back = this.#leases.length - 1 - this.#leases.indexOf(lease)
    const pick = { back, forged: 'no' } as const
    const effects = [{ ...pick, step: 'finish', name: 'mail', result: 'late' }] as const
    switch (tries) {
      case 'settle':
        return this.#settle(via, [{ lease, outcome, durationMs: 3 }])
      case 'extend':
        return this.#carryOut({ do: 'extend', via, picks: [pick], leaseMs: 1.5 * MINUTE })
      case 'release':
        return this.#carryOut({ do: 'release', via, picks: [pick], delayMs: 0 })
      case 'effect':
        return this.#carryOut({ do: 'effect', via, effect: effects[0] })
      case 'transaction': {
        const picks = [{ ...pick, outcome }]
        return this.#transaction({
          do: 'transaction',
          via,
          picks,
          effects,
          watermark: null,
          stallMs: 0,
          end: 'commit',
        })
      }
    }
  }

  async #operate(command: Extract<Command, { do: 'operate' }>): Promise<void> {
    const { verb, force, dryRun, conflict } = command
    const events = command.events.map((n) => this.#pickEvent(n))
    const others = this.#model.events.get(nameOf(events[0]!.source, events[0]!.id))?.others.keys()
    const named = conflict === 'named' ? ([...(others ?? [])][0] ?? 'ab'.repeat(32)) : conflict
    const order = { verb, events, actor: 'ada', note: 'asked to', force, dryRun, conflict: named }
    const results = await this.#store(command.via).operate(order)
    assert.deepEqual(results, operate(this.#model, order), `what became of an order to ${verb}`)
  }

  async #prune(command: Extract<Command, { do: 'prune' }>): Promise<void> {
    const { dryRun } = command
    const store = this.#store(command.via)
    const source = this.#source(command.source)
    const before = (minutes: number | null) =>
      minutes === null ? undefined : this.#model.now - (minutes - 0.5) * MINUTE
    const [payloadsBefore, eventsBefore] = [before(command.payloadsAge), before(command.eventsAge)]
    const horizons = {
      ...(payloadsBefore !== undefined && { payloadsBefore: this.#real(payloadsBefore) }),
      ...(eventsBefore !== undefined && { eventsBefore: this.#real(eventsBefore) }),
    }
    const may = prunable(this.#model, source, payloadsBefore, eventsBefore)
    const limit = command.limit ?? 1_000
    const removed = { payloads: 0, events: 0 }
    // A pass that an earlier call left in the middle is finished by the first round; the second sees everything.
    for (let round = 0; round < (command.limit === null && !dryRun ? 2 : 1); round++) {
      const result = await store.retention.prune({
        source,
        limit,
        dryRun,
        ...horizons,
      })
      removed.payloads += result.payloads
      removed.events += result.events
      assert.ok(result.payloads <= limit && result.events <= limit, 'no more than the limit is removed')
      if (command.limit === null) assert.equal(result.more, false, 'nothing more to remove')
    }
    if (dryRun) {
      const count = { payloads: Math.min(limit, may.payloads.size), events: Math.min(limit, may.events.size) }
      assert.deepEqual(removed, count, 'what a dry run of prune counts')
      return
    }
    const gone = { payloads: 0, events: 0 }
    for (const payload of may.payloads) {
      const [sharer] = this.#events().filter((event) => event.payload === payload)
      if ((await store.get(sharer!)) === null || (await store.inspect.payload(sharer!)) === null) {
        payload.kept = false
        gone.payloads++
      }
    }
    for (const event of may.events) {
      if ((await store.get(event)) !== null) continue
      forget(this.#model, event)
      gone.events++
    }
    assert.equal(gone.events, removed.events, 'events removed, as counted')
    if (command.limit === null) {
      assert.deepEqual(
        [gone.payloads, gone.events],
        [payloadsBefore === undefined ? gone.payloads : may.payloads.size, may.events.size],
        'all that may go is gone',
      )
    }
  }

  async #list({ via, filter }: Extract<Command, { do: 'list' }>): Promise<void> {
    await this.#flush()
    const store = this.#store(via)
    const given = this.#filterOf(filter)
    const all = await this.#records(store)
    const expected = all.filter((found) => matches(given, found)).sort((a, b) => b.seq - a.seq)
    const found: EventRecord[] = []
    let cursor: string | null = null
    do {
      const page = await store.list(given, { limit: filter.limit, cursor })
      assert.ok(page.events.length <= filter.limit, 'a page is no longer than asked')
      found.push(...page.events)
      cursor = page.next
    } while (cursor !== null)
    assert.deepEqual(found, expected, `list ${JSON.stringify(given)}`)
  }

  #filterOf(pick: ListPick): EventFilter {
    const { now } = this.#model
    const ago = (minutes: number) => this.#real(now - (minutes - 0.5) * MINUTE)
    return {
      // Without a source: by something no other run has.
      ...(pick.source !== null
        ? { source: this.#source(pick.source) }
        : pick.type === undefined && { reference: `${this.#name} r${pick.reference ?? 0}` }),
      ...(pick.id !== undefined && { id: `e${pick.id}` }),
      ...(pick.type !== undefined && {
        type: pick.type === '*' ? `${this.#name}.*` : `${this.#name}.t${pick.type}`,
      }),
      ...(pick.reference !== undefined && { reference: `${this.#name} r${pick.reference}` }),
      ...(pick.reason !== undefined && { reason: pick.reason }),
      ...(pick.state !== undefined && { state: pick.state }),
      ...(pick.dead !== undefined && pick.state === 'failed' && { dead: pick.dead }),
      ...(pick.from !== undefined && { from: ago(pick.from + 10) }),
      ...(pick.to !== undefined && { to: ago(pick.to) }),
      ...(pick.hasDuplicates !== undefined && { hasDuplicates: pick.hasDuplicates }),
      ...(pick.hasConflict !== undefined && { hasConflict: pick.hasConflict }),
      ...(pick.flagged !== undefined && { flagged: pick.flagged }),
    }
  }

  async #flush(): Promise<void> {
    for (const store of this.#log.stores) await store.duplicates.flush()
    this.#unflushed = false
  }

  // Comparisons.

  async #records(store: CompleteStore<Tx>): Promise<EventRecord[]> {
    const pages = await Promise.all(
      [0, 1].map((n) => store.list({ source: this.#source(n) }, { limit: 500 })),
    )
    return pages.flatMap((page) => page.events)
  }

  /** Every event of this run as the log shows it, and the statistics. */
  async #compareLog(store: CompleteStore<Tx>): Promise<void> {
    const [records, stats] = await Promise.all([this.#records(store), store.stats()])
    const found = new Map(records.map((one) => [nameOf(one.source, one.id), one]))
    assert.equal(found.size, records.length, 'I2: one row per source and event id')
    for (const [name, before] of this.#seen) this.#judgeMove(before, found.get(name))
    assert.deepEqual([...found.keys()].sort(), [...this.#model.events.keys()].sort(), 'the events in the log')
    for (const [name, one] of found) this.#compareRecord(one, this.#model.events.get(name)!)
    this.#compareStats(stats.filter((one) => one.source.startsWith(`${this.#name}.`)))
    this.#seen = found
    this.#since.clear()
  }

  /** The invariants about moves, by what was seen before and after, without the model. */
  #judgeMove(before: EventRecord, after: EventRecord | undefined): void {
    const name = `${before.source} ${before.id}`
    const unfinished = ['pending', 'processing', 'failed'].includes(before.state)
    if (!after || after.seq !== before.seq) {
      assert.ok(this.#since.has('prune') && !unfinished, `I7: ${name} was ${before.state} and is gone`)
      return
    }
    if (before.payload === 'kept' && after.payload !== 'kept')
      assert.ok(this.#since.has('prune') && !unfinished, `I7: ${name} lost its payload`)
    if (before.state === 'succeeded' || before.state === 'ignored') {
      const same = after.state === before.state && after.attempts === before.attempts
      // Other content takes the place of content that was withheld and never handled.
      const taken = before.reason === 'replayed_content' && after.contentHash !== before.contentHash
      assert.ok(same || taken || this.#since.has('operate'), `I5: ${name} moved from ${before.state}`)
    }
    assert.ok(after.run >= before.run, `${name}: a run never goes back`)
  }

  #compareRecord(found: EventRecord, event: ModelEvent): void {
    const { now } = this.#model
    const state = stateOf(event, now)
    const what = `${event.source} ${event.id}`
    assert.deepEqual(
      {
        seq: found.seq,
        type: found.type,
        reference: found.reference,
        state: found.state,
        attempts: found.attempts,
        run: found.run,
        contentHash: found.contentHash,
        sameAs: found.sameAs,
        payloadKept: found.payload === 'kept',
      },
      {
        seq: event.seq,
        type: event.event.type,
        reference: event.event.reference,
        state,
        attempts: attemptsOf(event),
        run: event.run,
        contentHash: hex(event.event.contentHash),
        sameAs: event.sameAs,
        payloadKept: event.payload.kept,
      },
      what,
    )
    const reasons = reasonsOf(event, now)
    assert.ok(
      reasons.includes(found.reason),
      `${what}: reason ${found.reason} is not ${reasons.join(' or ')}`,
    )
    this.#near(found.receivedAt, event.receivedAt, event.receivedAt, `${what}: receivedAt`)
    if (event.work === null)
      this.#near(found.processedAt, event.processedAt!, event.processedAt!, `${what}: processedAt`)
    else assert.equal(found.processedAt, null, `${what}: processedAt`)
    if (event.work === null || state === 'processing')
      assert.equal(found.nextAttemptAt, null, `${what}: nextAttemptAt`)
    else this.#near(found.nextAttemptAt, event.work.nextAt, event.work.latest, `${what}: nextAttemptAt`)
    const counted = [found.deliveries, found.conflicts]
    if (!this.#unflushed) {
      assert.deepEqual(counted, [event.deliveries, event.conflicts], `${what}: deliveries and conflicts`)
      assert.equal(found.lastConflict !== null, event.conflicts > 0, `${what}: lastConflict`)
      const shown = shownConflict(event)
      const { hash, decidedAt } = found.lastConflict ?? {}
      assert.deepEqual([hash, decidedAt === null], [shown?.hash, shown?.isOpen === true], `${what}: conflict`)
    }
    assert.ok(found.deliveries <= event.deliveries && found.conflicts <= event.conflicts, `${what}: counted`)
  }

  #compareStats(stats: Awaited<ReturnType<CompleteStore['stats']>>): void {
    const { now } = this.#model
    const expected = [0, 1].flatMap((n) => {
      const own = this.#events().filter((event) => event.source === this.#source(n))
      const count = (test: (event: ModelEvent) => boolean) => own.filter(test).length
      const state = (event: ModelEvent) => stateOf(event, now)
      if (own.length === 0) return []
      return {
        source: this.#source(n),
        recorded: own.length,
        pending: count((e) => state(e) === 'pending'),
        processing: count((e) => state(e) === 'processing'),
        retrying: count((e) => state(e) === 'failed' && e.work !== null),
        succeeded: count((e) => state(e) === 'succeeded'),
        ignored: count((e) => state(e) === 'ignored'),
        dead: count((e) => state(e) === 'failed' && e.work === null),
      }
    })
    assert.deepEqual(
      stats.map(({ oldestDueAt: _, ...counts }) => counts),
      expected,
      'statistics',
    )
    for (const { source, oldestDueAt } of stats) {
      const due = this.#events().flatMap(({ work, ...event }) =>
        event.source === source && work !== null && work.nextAt <= now ? [work] : [],
      )
      if (due.some((work) => work.latest > now)) continue
      if (due.length === 0) assert.equal(oldestDueAt, null, 'nothing is due')
      else {
        const from = Math.min(...due.map((work) => work.nextAt))
        this.#near(oldestDueAt, from, Math.min(...due.map((work) => work.latest)), 'oldestDueAt')
      }
    }
  }

  /** All that can be seen of each event: its record, its attempts, its bytes, its effects in the user's table. */
  async #compareWhole(): Promise<void> {
    await Promise.all(
      this.#events().map((event, i) => this.#compareEvent(this.#store(i % 2 === 0 ? 0 : 1), event)),
    )
    await Promise.all([...this.#model.userEffects.keys()].map((value) => this.#compareUserEffects(value)))
    for (const key of [0, 1]) await this.#compareWatermark(key)
  }

  async #compareEvent(store: CompleteStore<Tx>, event: ModelEvent): Promise<void> {
    const what = `${event.source} ${event.id}`
    const [found, attempts, payload] = await Promise.all([
      store.get(event),
      store.inspect.attempts(event),
      store.inspect.payload(event),
    ])
    assert.ok(found, `${what} is there`)
    this.#compareRecord(found, event)
    assert.deepEqual(
      attempts.map(({ startedAt: _, finishedAt: __, place: ___, ...row }) => row),
      event.attempts.map(({ finishedAt: _, ...row }) => row),
      `${what}: attempts`,
    )
    attempts.forEach(({ startedAt, finishedAt }, i) => {
      const at = event.attempts[i]!.finishedAt
      this.#near(finishedAt, at, at, `${what}: finishedAt`)
      assert.ok(startedAt <= finishedAt)
    })
    if (!event.payload.kept) {
      assert.equal(payload, null, `${what}: its payload was removed`)
      return
    }
    assert.ok(payload, `${what}: payload`)
    assert.equal(hex(payload.body), hex(event.payload.body), 'I10: the bytes are those that were received')
    assert.deepEqual([{ ...payload.headers }, payload.part], [event.payload.headers, event.part], what)
  }

  /** The next run finds nothing of ours due. */
  async #leaveNoWork(): Promise<void> {
    const working = this.#events().filter((event) => event.work !== null)
    if (working.some((event) => holder(this.#model, leaseOf(event)))) await this.#wait(100 * MINUTE)
    const events = working.map(({ source, id }) => ({ source, id: id }))
    const order = { verb: 'ignore', events, actor: 'ada', note: 'over' } as const
    assert.deepEqual(await this.#store(0).operate(order), operate(this.#model, order), 'all can be ignored')
    this.#since.add('operate')
    await this.#compareLog(this.#store(0))
  }
}

/** A call that never ends is a failure too. */
async function inTime(command: Command, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${command.do} hangs`)), HANG_MS)
  })
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
    done.catch(() => {})
  }
}

function leaseOf({ seq, work }: ModelEvent): Lease {
  return { seq, token: work?.token ?? '' }
}

function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest())
}

/** What a filter means, on a record as the store shows it. */
function matches(filter: EventFilter, found: EventRecord): boolean {
  const { type } = filter
  return (
    (filter.source === undefined || found.source === filter.source) &&
    (filter.id === undefined || found.id === filter.id) &&
    (type === undefined ||
      (type.endsWith('*') ? found.type.startsWith(type.slice(0, -1)) : found.type === type)) &&
    (filter.state === undefined || found.state === filter.state) &&
    (filter.dead === undefined || (found.nextAttemptAt === null) === filter.dead) &&
    (filter.reason === undefined || found.reason === filter.reason) &&
    (filter.reference === undefined ||
      found.reference === filter.reference ||
      found.references.some(({ value }) => value === filter.reference)) &&
    (filter.from === undefined || found.receivedAt >= filter.from) &&
    (filter.to === undefined || found.receivedAt < filter.to) &&
    (filter.hasDuplicates === undefined || found.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || (found.lastConflict?.decidedAt === null) === filter.hasConflict) &&
    (filter.flagged === undefined || (found.sameAs !== null) === filter.flagged)
  )
}

function guardsOf({ events }: NewDelivery): string[] {
  return events.flatMap(({ guardHash }) => hex(guardHash) ?? [])
}
