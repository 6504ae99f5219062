/**
 * The spine of processing: one claimed event, step by step. Outcomes are values; whatever the handler does ends here as
 * one of them, written under the lease or not at all.
 */
import { type Counters, countAttempt } from '../counters.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { AttemptSpan, Tracing } from '../tracing.js'
import { idempotencyKey, onceFor } from './effect.js'
import { asHandledEvent } from './event.js'
import { DEFAULT_TIMEOUT_MS, failure, failureIn, type Result, usedUp, validated, within } from './handle.js'
import type { HandledEvent, HandlerContext } from './handler.js'
import type { Handlers, Registered } from './handlers.js'
import { openSession, type Session } from './session.js'
import { type Mark, type SettleParts, settle } from './settle.js'

export interface AttemptParts<Tx> extends SettleParts<Tx> {
  readonly handlers: Handlers<Tx>
  readonly sources: ReadonlyMap<string, Source>
  readonly log: Logger
  readonly counters: Counters
  readonly tracing: Tracing | null
  /** Somebody waits for this attempt. */
  readonly inCall?: boolean
}

/** The session is handed out before the handler starts, so that a lost lease or a stop can abort it. */
export function attempt<Tx>(
  parts: AttemptParts<Tx>,
  claimed: ClaimedEvent,
  onSession: (session: Session<Tx>) => void = () => {},
): Promise<Result> {
  const span = parts.tracing?.attempt([claimed], parts.inCall === true)
  return span
    ? spanned(span, async () => [await attemptOne(parts, claimed, onSession)]).then(([result]) => result!)
    : attemptOne(parts, claimed, onSession)
}

/** Runs attempts inside a span that ends with what came of them. */
export async function spanned(span: AttemptSpan, work: () => Promise<Result[]>): Promise<Result[]> {
  let results: Result[] | null = null
  try {
    results = await span.within(work)
    return results
  } finally {
    span.end(results?.map((result) => result.kind) ?? null)
  }
}

async function attemptOne<Tx>(
  parts: AttemptParts<Tx>,
  claimed: ClaimedEvent,
  onSession: (session: Session<Tx>) => void,
): Promise<Result> {
  const startedAt = performance.now()
  const handler = parts.handlers.resolve(claimed.source, claimed.eventType)
  const session = openSession(
    parts.store,
    [claimed],
    parts.log,
    handler?.options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  )
  onSession(session)
  const [result, mark] = handler ? await run(parts, session, handler, claimed) : [unhandled, null]
  const durationMs = performance.now() - startedAt
  const settled = await settle(parts, session, handler ?? never, result, durationMs, mark)
  session.abort(new Error('the attempt is over'))
  report(parts, claimed, settled, durationMs)
  return settled
}

async function run<Tx>(
  parts: AttemptParts<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  claimed: ClaimedEvent,
): Promise<[Result, Mark | null]> {
  const { retry, options } = handler
  const source = parts.sources.get(claimed.source)
  const over = usedUp(retry, claimed.tries)
  if (over) return [over, null]
  if (claimed.unreadable)
    return [failure(claimed.unreadable, retry, claimed, () => claimed.unreadable!.message), null]
  if (claimed.body === null || !source)
    return [dead('its payload has been removed, so it cannot be handled'), null]
  let mark: Mark | null = null
  try {
    let event = asHandledEvent(source, claimed, claimed.body)
    if (options.schema) event = await validated(event, options.schema)
    if (options.stale) mark = markOf(handler, event, options.stale)
    if (mark && (await isStale(parts, claimed, mark))) return [{ kind: 'ignored', reason: 'stale' }, null]
    const ctx = contextOf(parts, session, claimed)
    await within(session, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, () => handler.handle!(event, ctx))
  } catch (error) {
    return [failureIn(session, error, retry, claimed, (thrown) => parts.redact.error(thrown, claimed)), null]
  }
  if (session.ignored !== null) return [{ kind: 'ignored', reason: session.ignored }, null]
  return [{ kind: 'succeeded' }, mark]
}

function contextOf<Tx>(
  parts: AttemptParts<Tx>,
  session: Session<Tx>,
  claimed: ClaimedEvent,
): HandlerContext<Tx> {
  return {
    tx: session.tx,
    once: onceFor(parts.store, session, claimed),
    idempotencyKey: (name) => idempotencyKey(claimed, name),
    attempt: claimed.tries,
    run: claimed.run,
    signal: session.signal,
    ignore(reason) {
      session.ignored = parts.redact.reason(reason, claimed)
    },
    log: parts.log,
  }
}

/** Under the handler's pattern: two handlers may count in different units. */
function markOf<Tx>(
  handler: Registered<Tx>,
  event: HandledEvent,
  stale: (event: HandledEvent) => number,
): Mark | null {
  if (event.reference === null) return null
  const value = stale(event)
  if (!Number.isFinite(value))
    throw new Error(`stale() gave ${value} for event "${event.id}"; it must give a number`)
  return { key: `${handler.pattern.length}:${handler.pattern} ${event.reference}`, value }
}

async function isStale<Tx>(parts: AttemptParts<Tx>, claimed: ClaimedEvent, mark: Mark): Promise<boolean> {
  const applied = await parts.store.watermark(claimed.source, mark.key)
  return applied !== null && applied > mark.value
}

const unhandled: Result = { kind: 'ignored', reason: 'unhandled' }
const never = { retry: { maxAttempts: 1, firstMs: 0, factor: 1, maxMs: 0 } }

function dead(error: string): Result {
  return { kind: 'failed', error, retryInMs: null }
}

/** Where every attempt ends, however it was run: counted and logged. */
export function report(
  { log, counters }: { readonly log: Logger; readonly counters: Counters },
  { source, eventId, attempt: number }: ClaimedEvent,
  result: Result,
  durationMs: number,
): void {
  countAttempt(counters, source, result, durationMs / 1_000)
  const fields = { source, eventId, attempt: number, step: 'settle' }
  if (result.kind === 'postponed' && result.code)
    log.warn(
      { ...fields, code: result.code, delayMs: result.delayMs },
      'no transaction could begin; tried again later',
    )
  else if (result.kind === 'postponed')
    log.debug({ ...fields, delayMs: result.delayMs }, 'postponed: the attempt does not count')
  else if (result.kind === 'handed_back') log.info(fields, 'handed back: the process is stopping')
  else if (result.kind === 'lost')
    log.warn({ ...fields, code: 'LEASE_LOST' }, 'lease lost: nothing was written')
  else if (result.kind === 'failed') {
    const retryInMs = result.retryInMs ?? undefined
    log.warn(
      { ...fields, retryInMs },
      retryInMs === undefined ? 'attempt failed: dead letter' : 'attempt failed: will be tried again',
    )
  } else log.debug({ ...fields, outcome: result.kind }, 'event settled')
}
