/**
 * The spine of processing: one attempt on a group of claimed events. An ordinary handler gets groups of one event; a
 * handler of `onBatch` gets groups of up to `maxBatch` events. The steps are the same for both:
 *
 *   prepare   decide which events come to the handler, and in which form (`prepare.ts`)
 *   handle    call the handler within its time limit; `ctx.tx` begins a transaction at its first use
 *   settle    write all outcomes, fenced by the leases (`settle.ts`)
 *   report    count and log each event
 *
 * A group of several events that fails is rolled back. Each of its events then gets an attempt of its own, so that only
 * the bad event fails.
 */
import { type Counters, countAttempt } from '../counters.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { AttemptSpan, Tracing } from '../tracing.js'
import { idempotencyKey, onceFor } from './effect.js'
import { DEFAULT_TIMEOUT_MS, failureIn, type Result, within } from './handle.js'
import type { BatchContext, HandledEvent, HandlerContext } from './handler.js'
import type { Handlers, Registered } from './handlers.js'
import { mayShareTransaction, type PreparedEvent, prepare } from './prepare.js'
import { openSession, type Session } from './session.js'
import { type SettleDeps, settle } from './settle.js'

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

/** Called with each session before its handler starts, so that a lost lease or a stop can abort it. */
export type OnSession<Tx> = (session: Session<Tx>) => void

/** Resolves to a result for each event, in order. Rejects when an outcome could not be written. */
export async function attempt<Tx>(
  deps: AttemptDeps<Tx>,
  group: Group<Tx>,
  onSession: OnSession<Tx> = () => {},
): Promise<Result[]> {
  const span = deps.tracing?.attempt(group.events, group.inCall === true)
  const run = () => attemptGroup(deps, group, onSession)
  return span ? withinSpan(span, run) : run()
}

async function attemptGroup<Tx>(
  deps: AttemptDeps<Tx>,
  { handler, events }: Group<Tx>,
  onSession: OnSession<Tx>,
): Promise<Result[]> {
  // An event that has failed before would probably fail the whole group.
  const isolated = events.length > 1 && events.some(({ tries }) => tries > 1)
  const results = isolated ? null : await attemptOnce(deps, handler, events, onSession)
  if (results) return results
  const each: Result[] = []
  for (const event of events)
    each.push(...(await attemptGroup(deps, { handler, events: [event] }, onSession)))
  return each
}

/** Null when a group of several events must be split: nothing was written. */
async function attemptOnce<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Registered<Tx> | null,
  events: readonly ClaimedEvent[],
  onSession: OnSession<Tx>,
): Promise<Result[] | null> {
  const startedAt = performance.now()
  const session = openSession(deps.store, events, deps.log, timeoutOf(handler))
  onSession(session)
  try {
    const prepared = await prepare(deps, session, handler)
    if (!mayShareTransaction(prepared)) return null
    const failed = await handle(deps, session, handler, prepared)
    const durationMs = performance.now() - startedAt
    const results = await settle(deps, session, prepared, failed, durationMs)
    for (const [i, result] of results?.entries() ?? []) report(deps, events[i]!, result, durationMs)
    return results
  } finally {
    session.abort(new Error('the attempt is over'))
  }
}

/** Null when the handler has returned; else the result of its failure. */
async function handle<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
  prepared: readonly PreparedEvent[],
): Promise<Result | null> {
  const ready = prepared.filter(({ event }) => event !== null)
  if (!handler || ready.length === 0) return null
  try {
    await within(session, timeoutOf(handler), () => callHandler(deps, session, handler, ready))
    return null
  } catch (error) {
    return failureIn(deps, session, error)
  }
}

/** The one difference between the two kinds of handlers: one call for each event, or one call for all. */
async function callHandler<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  ready: readonly PreparedEvent[],
): Promise<void> {
  if (handler.handleBatch) {
    const events = ready.map(({ event }) => event!)
    await handler.handleBatch(events, batchContext(deps, session, ready))
  } else {
    for (const prepared of ready)
      await handler.handle!(prepared.event!, eventContext(deps, session, prepared))
  }
}

function eventContext<Tx>(
  { store, redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  prepared: PreparedEvent,
): HandlerContext<Tx> {
  const { claimed } = prepared
  return {
    tx: session.tx,
    once: onceFor(store, session, claimed),
    idempotencyKey: (name) => idempotencyKey(claimed, name),
    attempt: claimed.tries,
    run: claimed.run,
    signal: session.signal,
    ignore(reason) {
      prepared.result = { kind: 'ignored', reason: redact.reason(reason, claimed) }
    },
    log,
  }
}

function batchContext<Tx>(
  { redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  ready: readonly PreparedEvent[],
): BatchContext<Tx> {
  return {
    tx: session.tx,
    signal: session.signal,
    ignore(event: HandledEvent, reason) {
      const prepared = ready.find((candidate) => candidate.event === event)
      if (!prepared) throw new TypeError('ctx.ignore(event, reason) needs an event of this batch')
      prepared.result = { kind: 'ignored', reason: redact.reason(reason, prepared.claimed) }
    },
    log,
  }
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
  { source, eventId, attempt: number }: ClaimedEvent,
  result: Result,
  durationMs: number,
): void {
  countAttempt(counters, source, result, durationMs / 1_000)
  const fields = { source, eventId, attempt: number, step: 'settle' }
  switch (result.kind) {
    case 'failed':
      if (result.retryInMs === null) log.warn(fields, 'attempt failed: dead letter')
      else log.warn({ ...fields, retryInMs: result.retryInMs }, 'attempt failed: will be retried')
      break
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
          'the transaction could not begin: will be tried again, the attempt does not count',
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
