/**
 * A store as it should be, in memory and without cleverness. Time is the model's own: milliseconds since the run began,
 * moved only by commands. Durations are chosen so that the real clock, which creeps on meanwhile, never decides.
 */
import type { ActionResult, EventKey, Reference, State } from 'hookonce'
import type {
  Action,
  AttemptOutcome,
  EffectState,
  EffectStep,
  Lease,
  NewDelivery,
  NewEvent,
  Outcome,
  RecordVerdict,
  Watermark,
} from 'hookonce/testing/contracts'
import { notUnknown } from '#dist/store/input.js'

/** The head of a lane that waits for another that is held may be put off so far. */
const LOOK_AGAIN_MS = 2_000
/** One behind the head of its lane may be put off so far; it is due again when the one before it is gone. */
const PARKED_MS = 2 * 3_600_000

export interface ModelWork {
  /** When it is due, or its lease ends. A lane may have moved it up to `latest`. */
  nextAt: number
  latest: number
  attempt: number
  base: number
  token: string | null
  worker: string
}

export interface ModelPayload {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  kept: boolean
}

export interface ModelAttempt {
  readonly attempt: number
  readonly run: number
  readonly worker: string
  readonly outcome: AttemptOutcome
  readonly detail: string | null
  readonly finishedAt: number
}

export interface ModelEvent extends EventKey {
  readonly seq: number
  event: NewEvent
  /** Of other content, and those that handlers added. */
  readonly otherReferences: Reference[]
  part: number
  readonly receivedAt: number
  payload: ModelPayload
  readonly attempts: ModelAttempt[]
  /** Null = started. */
  readonly effects: Map<string, string | null>
  /** When each effect whose end is unknown was first started. */
  readonly begunAt: Map<string, number>
  /** Other content that the log knows, by hash, the latest last: whether nobody has decided about it. */
  readonly others: Map<string, boolean>
  sameAs: string | null
  /** It waits for a review, because of `sameAs`, and was never handled. */
  withheld: boolean
  work: ModelWork | null
  parked: 'ignored' | 'dead' | null
  reason: string | null
  processedAt: number | null
  run: number
  deliveries: number
  conflicts: number
}

export interface Model {
  now: number
  /** By `nameOf`. */
  readonly events: Map<string, ModelEvent>
  /** (source, guard hash) -> event id. */
  readonly guards: Map<string, string>
  readonly watermarks: Map<string, number>
  /** Committed rows in the user's table, by value. */
  readonly userEffects: Map<string, number>
  lastSeq: number
}

export function emptyModel(): Model {
  return {
    now: 0,
    events: new Map(),
    guards: new Map(),
    watermarks: new Map(),
    userEffects: new Map(),
    lastSeq: 0,
  }
}

/** Two values in one string, for the keys of a Map. */
export function nameOf(source: string, eventId: string): string {
  return JSON.stringify([source, eventId])
}

export function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}

export function stateOf({ work, parked }: ModelEvent, now: number): State {
  if (work === null) return parked === null ? 'succeeded' : parked === 'dead' ? 'failed' : 'ignored'
  if (work.token !== null && work.nextAt > now) return 'processing'
  const tries = work.attempt - work.base - (work.token === null ? 0 : 1)
  return tries > 0 ? 'failed' : 'pending'
}

/** Every reason the event may show. One, unless it failed by lost leases alone since its last new start. */
export function reasonsOf(event: ModelEvent, now: number): (string | null)[] {
  const state = stateOf(event, now)
  if (event.work === null) return [event.reason]
  if (state !== 'failed') return [null]
  const errors = event.attempts.filter((row) => row.outcome === 'failed')
  const own = errors.filter((row) => row.attempt > event.work!.base).at(-1)
  return own ? [own.detail] : [null, ...event.attempts.map((row) => row.detail)]
}

/** The other content that a person sees: the latest that is open, else the latest. */
export function shownConflict({
  others,
}: ModelEvent): { readonly hash: string; readonly isOpen: boolean } | null {
  const all = [...others].map(([hash, isOpen]) => ({ hash, isOpen }))
  return all.findLast(({ isOpen }) => isOpen) ?? all.at(-1) ?? null
}

export function attemptsOf(event: ModelEvent): number {
  return event.work?.attempt ?? event.attempts.at(-1)?.attempt ?? 0
}

/** Lost attempts in a row at the end of what is written down, since the last new start. */
export function lossesOf({ work, attempts }: ModelEvent): number {
  const own = attempts.filter((row) => row.attempt > work!.base)
  return own.length - 1 - own.findLastIndex((row) => row.outcome !== 'lost')
}

function lane(model: Model, of: ModelEvent): ModelEvent[] {
  if (of.event.lane == null) return []
  return [...model.events.values()].filter(
    (other) => other.work !== null && other.source === of.source && other.event.lane === of.event.lane,
  )
}

export function isBlocked(model: Model, of: ModelEvent): boolean {
  return lane(model, of).some(
    (other) =>
      other.seq < of.seq || (other !== of && other.work!.token !== null && other.work!.nextAt > model.now),
  )
}

/** May a worker have it: surely, perhaps (its lane may have pushed it back a moment ago), or not. */
export function claimable(model: Model, of: ModelEvent, byName: boolean): 'yes' | 'perhaps' | 'no' {
  const { work } = of
  if (work === null || stateOf(of, model.now) === 'processing' || isBlocked(model, of)) return 'no'
  if (byName || work.latest <= model.now) return 'yes'
  return work.nextAt <= model.now ? 'perhaps' : 'no'
}

function isBehind(model: Model, of: ModelEvent): boolean {
  return lane(model, of).some((other) => other.seq < of.seq)
}

const putOffMs = (model: Model, of: ModelEvent) => (isBehind(model, of) ? PARKED_MS : LOOK_AGAIN_MS)

/** It enters `work` now: due at once, or parked behind another of its lane. */
function enter(model: Model, of: ModelEvent): void {
  of.work!.latest = isBehind(model, of) ? model.now + PARKED_MS : model.now
}

/** What a claim may do to those it leaves: due ones that wait for their lane are pushed back. */
export function pushBack(model: Model, looked: Iterable<ModelEvent>): void {
  for (const event of looked) {
    const { work } = event
    if (work === null || work.nextAt > model.now || !isBlocked(model, event)) continue
    // A lease that ran out stays where it is: with a later end it would be alive again.
    if (work.token === null) work.latest = Math.max(work.latest, model.now + putOffMs(model, event))
  }
}

export function take(model: Model, of: ModelEvent, lease: Lease, worker: string, leaseMs: number): void {
  const work = of.work!
  leaveLost(of)
  work.attempt++
  work.token = lease.token
  work.worker = worker
  setNext(work, model.now + leaseMs)
}

function setNext(work: ModelWork, at: number): void {
  work.nextAt = at
  work.latest = at
}

function leaveLost({ work, attempts, run }: ModelEvent): void {
  if (work === null || work.token === null) return
  const { attempt, worker, nextAt } = work
  attempts.push({ attempt, run, worker, outcome: 'lost', detail: null, finishedAt: nextAt })
}

/** The event that a live lease speaks of. */
export function holder(model: Model, { seq, token }: Lease): ModelEvent | null {
  for (const event of model.events.values()) {
    if (event.seq !== seq) continue
    return event.work?.token === token && event.work.nextAt > model.now ? event : null
  }
  return null
}

export function settle(model: Model, lease: Lease, outcome: Outcome): boolean {
  const event = holder(model, lease)
  if (!event) return false
  const work = event.work!
  const detail = outcome.kind === 'succeeded' ? null : 'reason' in outcome ? outcome.reason : outcome.error
  const { attempt, worker } = work
  event.attempts.push({
    attempt,
    run: event.run,
    worker,
    outcome: outcome.kind,
    detail,
    finishedAt: model.now,
  })
  if (outcome.kind === 'failed' && outcome.retryInMs !== null) {
    work.token = null
    setNext(work, model.now + outcome.retryInMs)
    return true
  }
  leave(model, event)
  event.parked = outcome.kind === 'succeeded' ? null : outcome.kind === 'ignored' ? 'ignored' : 'dead'
  event.reason = detail
  return true
}

/** Out of `work` for good: the next of its lane, if it only waited for this one, is due at once. */
function leave(model: Model, event: ModelEvent): void {
  const next = lane(model, event)
    .filter((other) => other.seq > event.seq)
    .sort((a, b) => a.seq - b.seq)[0]
  event.work = null
  event.processedAt = model.now
  if (!next) return
  const work = next.work!
  if (work.token !== null) return
  if (work.attempt !== work.base) {
    // It was tried before, and its own time is over: it was parked, or will be looked at again soon.
    if (work.nextAt <= model.now && !isBlocked(model, next))
      work.latest = Math.min(work.latest, model.now + LOOK_AGAIN_MS)
    return
  }
  if (work.nextAt > model.now) {
    // Handed back for later, out of its turn. Both stores may wake it now: they do not tell it from a push.
    work.nextAt = model.now
    return
  }
  // While it waits for yet another, a store may count it as due from now on.
  work.latest = isBlocked(model, next) ? Math.max(work.latest, model.now) : model.now
}

export function extend(model: Model, lease: Lease, leaseMs: number): boolean {
  const event = holder(model, lease)
  if (event) setNext(event.work!, model.now + leaseMs)
  return event !== null
}

export function release(model: Model, lease: Lease, delayMs: number): boolean {
  const event = holder(model, lease)
  if (!event) return false
  event.work!.attempt--
  event.work!.token = null
  setNext(event.work!, model.now + delayMs)
  return true
}

export function effect(model: Model, step: EffectStep): EffectState {
  if (step.step === 'finish' && step.late) return finishLate(model, step.lease.seq, step.name, step.result)
  const event = holder(model, step.lease)
  if (!event) return { state: 'fenced' }
  const known = event.effects.get(step.name)
  if (typeof known === 'string') return { state: 'finished', result: known }
  if (step.step === 'finish') {
    event.effects.set(step.name, step.result)
    return { state: 'finished', result: step.result }
  }
  if (step.step === 'drop') {
    event.effects.delete(step.name)
    return { state: 'new' }
  }
  if (known === null) return { state: 'unknown', ageMs: model.now - event.begunAt.get(step.name)! }
  event.effects.set(step.name, null)
  event.begunAt.set(step.name, model.now)
  return { state: 'new' }
}

function finishLate(model: Model, seq: number, name: string, result: string): EffectState {
  const event = [...model.events.values()].find((candidate) => candidate.seq === seq)
  const isLeased = event?.work && event.work.token !== null && event.work.nextAt > model.now
  if (!event || isLeased || event.effects.get(name) !== null) return { state: 'fenced' }
  event.effects.set(name, result)
  return { state: 'finished', result }
}

export function advance(model: Model, { source, key, value }: Watermark): boolean {
  const name = nameOf(source, key)
  const known = model.watermarks.get(name)
  if (known !== undefined && known > value) return false
  model.watermarks.set(name, value)
  return true
}

const orderable: Record<Action['verb'], readonly State[]> = {
  retry: ['failed', 'ignored'],
  replay: ['failed', 'ignored', 'succeeded'],
  ignore: ['pending', 'failed'],
}

export function operate(
  model: Model,
  { verb, events, force, effects = {}, dryRun, conflict }: Action,
): ActionResult[] {
  const on = dryRun ? structuredClone(model) : model
  return events.map((key): ActionResult => {
    const event = on.events.get(nameOf(key.source, key.id))
    if (!event) return { done: false, code: 'EVENT_NOT_FOUND' }
    const from = stateOf(event, on.now)
    if (verb === 'ignore' && conflict) {
      const isNamed = typeof conflict === 'string'
      const isOpen = isNamed ? event.others.get(conflict) === true : shownConflict(event)?.isOpen === true
      if (!isOpen) return { done: false, code: isNamed ? 'CONFLICT_CHANGED' : 'CONFLICT_NOT_FOUND' }
      for (const hash of isNamed ? [conflict] : event.others.keys()) event.others.set(hash, false)
      return { done: true, from, to: from }
    }
    if (from === 'processing') return { done: false, code: 'EVENT_PROCESSING' }
    if (!orderable[verb].includes(from)) return { done: false, code: 'MOVE_FORBIDDEN' }
    if (verb !== 'ignore' && !event.payload.kept) return { done: false, code: 'PAYLOAD_REMOVED' }
    if (from === 'succeeded' && force !== true) return { done: false, code: 'FORCE_NEEDED' }
    const decided = Object.entries(effects)
    const wrong = decided.find(([name]) => event.effects.get(name) !== null)
    if (wrong) throw notUnknown(wrong[0], key)
    const attempts = attemptsOf(event)
    leaveLost(event)
    if (verb === 'ignore') {
      leave(on, event)
      event.parked = 'ignored'
      event.reason = 'operator'
      return { done: true, from, to: 'ignored' }
    }
    for (const [name, result] of decided)
      if (result === null) event.effects.delete(name)
      else event.effects.set(name, result)
    event.work = {
      nextAt: on.now,
      latest: on.now,
      attempt: attempts,
      base: attempts,
      token: null,
      worker: '',
    }
    enter(on, event)
    event.parked = null
    event.withheld = false
    event.reason = null
    event.processedAt = null
    if (verb === 'replay') event.run++
    return { done: true, from, to: 'pending' }
  })
}

/** The verdict on each event, in order; what is recorded takes the seq that the store gave it. */
export function record(
  model: Model,
  deliveries: readonly NewDelivery[],
  receivedAt: (delivery: NewDelivery) => number,
  seqs: readonly (readonly (number | null)[])[],
): RecordVerdict[][] {
  return deliveries.map((delivery, d) => {
    const payload: ModelPayload = { body: delivery.body, headers: delivery.headers, kept: true }
    return delivery.events.map((event, part): RecordVerdict => {
      const { source } = delivery
      const { id } = event
      const known = model.events.get(nameOf(source, id))
      if (known) return duplicate(model, known, delivery, event, part, payload)
      const sameAs = holderOf(model, source, event)
      if (sameAs !== null && delivery.contentGuard === 'reject') return { status: 'replayed' }
      const withheld = sameAs !== null && delivery.contentGuard === 'review'
      if (sameAs === null) register(model, source, event)
      const seq = seqs[d]?.[part] ?? -1
      const { now } = model
      model.events.set(nameOf(source, id), {
        source,
        id: id,
        sameAs,
        seq,
        event,
        otherReferences: [],
        part,
        receivedAt: receivedAt(delivery),
        payload,
        attempts: [],
        effects: new Map(),
        begunAt: new Map(),
        others: new Map(),
        withheld,
        work: withheld ? null : { nextAt: now, latest: now, attempt: 0, base: 0, token: null, worker: '' },
        parked: withheld ? 'ignored' : null,
        reason: withheld ? 'replayed_content' : null,
        processedAt: withheld ? now : null,
        run: 1,
        deliveries: 1,
        conflicts: 0,
      })
      if (!withheld) enter(model, model.events.get(nameOf(source, id))!)
      const same = sameAs === null ? {} : { sameAs }
      return { status: 'recorded', seq, state: withheld ? 'ignored' : 'pending', ...same }
    })
  })
}

/** The other event that has this signed content. */
function holderOf(model: Model, source: string, { id, guardHash }: NewEvent): string | null {
  const holder = guardHash === null ? undefined : model.guards.get(nameOf(source, hex(guardHash)!))
  return holder === undefined || holder === id ? null : holder
}

function register(model: Model, source: string, { id, guardHash }: NewEvent): void {
  if (guardHash === null) return
  const guard = nameOf(source, hex(guardHash)!)
  if (!model.guards.has(guard)) model.guards.set(guard, id)
}

function duplicate(
  model: Model,
  known: ModelEvent,
  { source, contentGuard }: NewDelivery,
  event: NewEvent,
  part: number,
  payload: ModelPayload,
): RecordVerdict {
  const [one, other] = [hex(known.event.contentHash), hex(event.contentHash)]
  const equal = one === null || other === null || one === other
  known.deliveries++
  if (!equal) {
    known.conflicts++
    const isOpen = known.others.get(other) ?? true
    known.others.delete(other)
    known.others.set(other, isOpen)
    known.otherReferences.push(...contentReferences(event))
    const sameAs = holderOf(model, source, event)
    if (known.withheld && (sameAs === null || contentGuard === 'accept')) {
      takeOver(model, known, event, part, payload)
      known.sameAs = sameAs
      if (sameAs === null) register(model, source, event)
    }
  }
  const final = known.work === null
  return { status: 'duplicate', seq: known.seq, state: stateOf(known, model.now), final, equal }
}

function contentReferences({ reference, references = [] }: NewEvent): Reference[] {
  const isLabelled = reference === null || references.some(({ value }) => value === reference)
  return isLabelled ? [...references] : [{ label: 'reference', value: reference }, ...references]
}

/** Other content takes the place of content that was never handled. */
function takeOver(
  model: Model,
  known: ModelEvent,
  event: NewEvent,
  part: number,
  payload: ModelPayload,
): void {
  known.others.delete(hex(event.contentHash)!)
  known.others.set(hex(known.event.contentHash)!, false)
  known.otherReferences.push(...contentReferences(known.event))
  known.event = event
  known.part = part
  known.payload = payload
  known.parked = null
  known.withheld = false
  known.reason = null
  known.processedAt = null
  known.work = { nextAt: model.now, latest: model.now, attempt: 0, base: 0, token: null, worker: '' }
  enter(model, known)
}

/** What retention may take: payloads none of whose events still needs them, and finished events. */
export function prunable(
  model: Model,
  source: string,
  payloadsBefore: number | undefined,
  eventsBefore: number | undefined,
): { payloads: Set<ModelPayload>; events: Set<ModelEvent> } {
  const own = [...model.events.values()].filter((event) => event.source === source)
  const finished = (event: ModelEvent) => event.work === null && event.parked !== 'dead'
  const old = (event: ModelEvent, before: number | undefined) =>
    before !== undefined && event.receivedAt < before
  const payloads = new Set(own.filter((e) => e.payload.kept && old(e, payloadsBefore)).map((e) => e.payload))
  for (const event of own) if (!finished(event)) payloads.delete(event.payload)
  return { payloads, events: new Set(own.filter((event) => finished(event) && old(event, eventsBefore))) }
}

export function forget(model: Model, { source, id }: EventKey): void {
  model.events.delete(nameOf(source, id))
  for (const [guard, holder] of model.guards)
    if (holder === id && (JSON.parse(guard) as string[])[0] === source) model.guards.delete(guard)
}
