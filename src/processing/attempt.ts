/**
 * The spine of processing: one attempt on a group of claimed events. An ordinary handler gets groups of one event, or of up
 * to `share` events, which it handles one after the other in one transaction. A handler of `onBatch` gets groups of up to
 * `maxBatch` events in one call. The steps are the same for all:
 *
 *   prepare   decide which events come to the handler, and in which form (`prepare.ts`)
 *   handle    call the handler within its time limit; `ctx.tx` begins a transaction at its first use
 *   settle    write all outcomes, fenced by the leases (`settle.ts`)
 *   report    count and log each event
 *
 * A group of several events that fails is rolled back. Each of its events that has begun then gets an attempt of its own,
 * so that only the bad event fails.
 */
import { type Counters, countAttempt, countHandled, type HandlerCounters } from '../counters.js'
import { boundLog, type LogFields, type Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { AttemptSpan, Tracing } from '../tracing.js'
import { idempotencyKey, onceFor } from './effect.js'
import { cut } from './error-text.js'
import { DEFAULT_TIMEOUT_MS, failureIn, limitOf, NotShareable, type Result, within } from './handle.js'
import type { BatchContext, HandledEvent, HandlerContext } from './handler.js'
import type { Handlers, Registered } from './handlers.js'
import { mayShareTransaction, type PreparedEvent, prepare } from './prepare.js'
import { openSession, type Scope, type Session } from './session.js'
import { type SettleDeps, type SettleHooks, settle } from './settle.js'

/** The whole text is stored with the attempt. */
const MAX_LOGGED_ERROR_BYTES = 2_048

export interface AttemptDeps<Tx> extends SettleDeps<Tx> {
  readonly handlers: Handlers<Tx>
  readonly sources: ReadonlyMap<string, Source>
  readonly log: Logger
  readonly counters: Counters
  readonly tracing: Tracing | null
}

/** Events of one handler that are attempted at once. */
export interface Group<Tx> {
  /** Null: no handler is registered for the type of the event. */
  readonly handler: Registered<Tx> | null
  readonly events: readonly ClaimedEvent[]
  /** True when a caller waits for the result: the span of the attempt then belongs to the span of the caller. */
  readonly inCall?: boolean
}

export interface AttemptHooks<Tx> extends SettleHooks {
  /** Called with each session before its handler starts, so that a lost lease or a stop can abort it. */
  onSession?(session: Session<Tx>): void
}

/**
 * A shared transaction takes no further event after this time, so that its locks are not held much longer. The events that
 * have not begun go into another group.
 */
const SHARED_MS = 250

/**
 * Resolves to a result for each event, in order. Events of a shared transaction that have not begun have no result; they are
 * the last ones. Rejects when an outcome could not be written.
 */
export function attempt<Tx>(
  deps: AttemptDeps<Tx>,
  group: Group<Tx>,
  hooks: AttemptHooks<Tx> = {},
): Promise<Result[]> {
  const span = deps.tracing?.attempt(group.events, group.inCall === true)
  return span ? withinSpan(span, () => attemptGroup(deps, group, hooks)) : attemptGroup(deps, group, hooks)
}

async function attemptGroup<Tx>(
  deps: AttemptDeps<Tx>,
  { handler, events }: Group<Tx>,
  hooks: AttemptHooks<Tx>,
): Promise<Result[]> {
  const { results, begun } = await attemptOnce(deps, handler, events, hooks)
  if (results) return results
  const each: Result[] = []
  // The place is needed for the next event of the group.
  const alone: AttemptHooks<Tx> = { onSession: (session) => hooks.onSession?.(session) }
  for (const event of events.slice(0, begun))
    each.push(...(await attemptGroup(deps, { handler, events: [event] }, alone)))
  return each
}

interface Attempted {
  /** Null when a group of several events must be split: nothing was written. */
  readonly results: Result[] | null
  /** How many events have begun. */
  readonly begun: number
}

async function attemptOnce<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Registered<Tx> | null,
  events: readonly ClaimedEvent[],
  hooks: AttemptHooks<Tx>,
): Promise<Attempted> {
  const session = openSession(deps.store, events, deps.log, timeoutOf(handler))
  hooks.onSession?.(session)
  try {
    const preparing = prepare(deps, session, handler)
    const prepared = Array.isArray(preparing) ? preparing : await preparing
    if (!mayShareTransaction(prepared)) return { results: null, begun: events.length }
    const { begun, failed } = await handle(deps, session, handler, prepared)
    const results = await settle(deps, session, begun, failed, hooks)
    for (const [i, result] of results?.entries() ?? []) report(deps, prepared[i]!, result, handler?.counters)
    return { results, begun: begun.length }
  } finally {
    session.end()
  }
}

interface Handled {
  /** The events that have begun, or needed no handler. */
  readonly begun: readonly PreparedEvent[]
  /** Null when the handler has returned; else the result of its failure. */
  readonly failed: Result | null
}

/** The one difference between the kinds of handlers: one call for each event, or one call for all. */
async function handle<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
  prepared: readonly PreparedEvent[],
): Promise<Handled> {
  if (!handler) return { begun: prepared, failed: null }
  if (handler.handleBatch)
    return { begun: prepared, failed: await callBatchHandler(deps, session, handler, prepared) }
  const startedAt = performance.now()
  for (const [i, { event }] of prepared.entries()) {
    if (event === null) continue
    if (i > 0 && performance.now() - startedAt > SHARED_MS)
      return { begun: prepared.slice(0, i), failed: null }
    const failed = await callHandler(deps, session, handler, prepared[i]!)
    if (failed) return { begun: prepared.slice(0, i + 1), failed }
  }
  return { begun: prepared, failed: null }
}

function callBatchHandler<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  prepared: readonly PreparedEvent[],
): Promise<Result | null> {
  const ready = prepared.filter(({ event }) => event !== null)
  if (ready.length === 0) return Promise.resolve(null)
  const events = ready.map(({ event }) => event!)
  return call(deps, session, handler, ready, (scope) =>
    handler.handleBatch!(events, batchContext(deps, session, scope, ready)),
  )
}

function callHandler<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  prepared: PreparedEvent,
): Promise<Result | null> {
  return call(deps, session, handler, [prepared], (scope) =>
    handler.handle!(prepared.event!, eventContext(deps, session, scope, prepared)),
  )
}

/** Null when the handler has returned; else the result of its failure. */
async function call<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  prepared: readonly PreparedEvent[],
  work: (scope: Scope<Tx>) => unknown,
): Promise<Result | null> {
  const startedAt = performance.now()
  const claimed = prepared.map((one) => one.claimed)
  const sharesWriter = !handler.handleBatch && session.claimed.length > 1 && deps.store.singleWriter
  try {
    const limit = limitOf(session, timeoutOf(handler), sharesWriter)
    await within(session, claimed, limit, work, (goesOn) => reportStillRuns(deps, handler, claimed, goesOn))
    return null
  } catch (error) {
    // The reason is always ours; the error may be an object whose prototype cannot be read.
    const { reason } = session
    if (reason instanceof NotShareable) stopSharing(deps, handler, reason)
    return failureIn(deps, session, error)
  } finally {
    for (const one of prepared) one.durationMs = performance.now() - startedAt
  }
}

/** `goesOn`: it has had its time twice, and its attempt ends without it. */
function reportStillRuns<Tx>(
  { log }: AttemptDeps<Tx>,
  { pattern }: Registered<Tx>,
  claimed: readonly ClaimedEvent[],
  goesOn: boolean,
): void {
  log.warn(
    { ...batchFields(claimed), handler: pattern, step: 'handle' },
    goesOn
      ? 'the handler still runs long after its time limit: its attempt ends, and the next one may run beside it'
      : 'the handler still runs after its time limit: its event and its lane wait; end it when ctx.signal is aborted',
  )
}

function stopSharing<Tx>({ log }: AttemptDeps<Tx>, handler: Registered<Tx>, { message }: Error): void {
  const { source, pattern } = handler
  handler.isolated = true
  log.warn(
    { source, handler: pattern, step: 'handle', problem: message },
    'handler cannot share transactions on this store: its events run one by one from now on; remove `share`',
  )
}

function eventContext<Tx>(
  { store, redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  scope: Scope<Tx>,
  prepared: PreparedEvent,
): HandlerContext<Tx> {
  const { claimed } = prepared
  return {
    tx: scope.tx,
    once: onceFor(store, session, scope, claimed),
    idempotencyKey: (name) => idempotencyKey(claimed, name),
    attempt: claimed.tries,
    run: claimed.run,
    get signal() {
      return session.signal
    },
    ignore(reason) {
      prepared.result = { kind: 'ignored', reason: redact.reason(reason, claimed) }
    },
    log: boundLog(log, logFields(claimed)),
  }
}

function batchContext<Tx>(
  { redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  scope: Scope<Tx>,
  ready: readonly PreparedEvent[],
): BatchContext<Tx> {
  return {
    tx: scope.tx,
    get signal() {
      return session.signal
    },
    ignore(event: HandledEvent, reason) {
      const prepared = ready.find((candidate) => candidate.event === event)
      if (!prepared) throw new TypeError('ctx.ignore(event, reason) needs an event of this batch')
      prepared.result = { kind: 'ignored', reason: redact.reason(reason, prepared.claimed) }
    },
    log: boundLog(log, batchFields(session.claimed)),
  }
}

function logFields({ source, eventId, eventType, attempt }: ClaimedEvent) {
  return { source, eventId, type: eventType, attempt }
}

/** A batch of one event has its fields; a larger batch has no one id. */
function batchFields(claimed: readonly ClaimedEvent[]): LogFields {
  const [first] = claimed
  return claimed.length === 1 ? logFields(first!) : { source: first!.source, events: claimed.length }
}

function timeoutOf<Tx>(handler: Registered<Tx> | null): number {
  return handler?.options.timeoutMs ?? DEFAULT_TIMEOUT_MS
}

async function withinSpan(span: AttemptSpan, work: () => Promise<Result[]>): Promise<Result[]> {
  let results: Result[] | null = null
  try {
    results = await span.within(work)
    return results
  } finally {
    span.end(results?.map((result) => result.kind) ?? null)
  }
}

function report(
  { log, counters }: { readonly log: Logger; readonly counters: Counters },
  { claimed, durationMs }: PreparedEvent,
  result: Result,
  own: HandlerCounters | undefined,
): void {
  countAttempt(counters, claimed.source, result, durationMs / 1_000)
  if (own) countHandled(own, result, durationMs / 1_000)
  const fields = { ...logFields(claimed), step: 'settle' }
  switch (result.kind) {
    case 'failed': {
      const place = 'place' in result && result.place ? { place: result.place } : {}
      const failed = { ...fields, error: cut(result.error, MAX_LOGGED_ERROR_BYTES), ...place }
      if (result.retryInMs === null) log.warn(failed, 'attempt failed: dead letter')
      else log.warn({ ...failed, retryInMs: result.retryInMs }, 'attempt failed: will be retried')
      break
    }
    case 'lost':
      log.warn({ ...fields, code: 'LEASE_LOST' }, 'lease lost: the result of the attempt was discarded')
      break
    case 'handed_back':
      log.info(fields, 'released because the process is stopping: the attempt does not count')
      break
    case 'postponed':
      if (result.code)
        log.warn(
          { ...fields, code: result.code, delayMs: result.delayMs },
          'the store failed: will be tried again, the attempt does not count',
        )
      else
        log.debug(
          { ...fields, delayMs: result.delayMs },
          'postponed by the handler: the attempt does not count',
        )
      break
    default:
      log.debug({ ...fields, outcome: result.kind }, 'event settled')
  }
}
