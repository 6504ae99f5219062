/** Many events, one transaction, one commit. When it fails, each runs alone, so that only the bad one fails. */
import type { ClaimedEvent } from '../model.js'
import { type AttemptParts, report, spanned } from './attempt.js'
import { asHandledEvent } from './event.js'
import { DEFAULT_TIMEOUT_MS, failureIn, type Result, unavailableNow, usedUp, within } from './handle.js'
import type { Registered } from './handlers.js'
import { openSession, type Session } from './session.js'
import { settle, undo } from './settle.js'

export function attemptBatch<Tx>(
  parts: AttemptParts<Tx>,
  handler: Registered<Tx>,
  claimed: readonly ClaimedEvent[],
  onSession: (session: Session<Tx>) => void = () => {},
): Promise<Result[]> {
  const span = parts.tracing?.attempt(claimed, parts.inCall === true)
  const run = () => attemptAll(parts, handler, claimed, onSession)
  return span ? spanned(span, run) : run()
}

async function attemptAll<Tx>(
  parts: AttemptParts<Tx>,
  handler: Registered<Tx>,
  claimed: readonly ClaimedEvent[],
  onSession: (session: Session<Tx>) => void,
): Promise<Result[]> {
  const startedAt = performance.now()
  const results = await together(parts, handler, claimed, onSession)
  if (results) {
    const durationMs = performance.now() - startedAt
    claimed.forEach((one, i) => {
      report(parts, one, results[i]!, durationMs)
    })
    return results
  }
  const alone: Result[] = []
  for (const one of claimed) alone.push(await single(parts, handler, one, onSession))
  return alone
}

/** Null when it did not work out and nothing was kept. */
async function together<Tx>(
  parts: AttemptParts<Tx>,
  handler: Registered<Tx>,
  claimed: readonly ClaimedEvent[],
  onSession: (session: Session<Tx>) => void,
): Promise<Result[] | null> {
  if (claimed.length < 2 || claimed.some((one) => one.body === null || one.tries > 1)) return null
  const startedAt = performance.now()
  const session = openSession(parts.store, claimed, parts.log, timeoutOf(handler))
  onSession(session)
  try {
    await within(session, timeoutOf(handler), () => call(parts, handler, session))
    const transaction = await session.begin()
    const durationMs = performance.now() - startedAt
    const finished = await transaction.finish(
      claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs })),
    )
    if (finished) return claimed.map(() => ({ kind: 'succeeded' }))
  } catch (error) {
    // One by one they would each wait as long for the same connections.
    const code = session.unavailable?.code ?? (session.waiting ? 'POOL_EXHAUSTED' : null)
    if (code) return await postponeAll(parts, claimed, unavailableNow(code))
    parts.log.info(
      { source: handler.source, events: claimed.length, step: 'handle' },
      `batch failed, running one by one: ${parts.redact.reason(nameOf(error), claimed[0]!)}`,
    )
  } finally {
    await undo(session)
    session.abort(new Error('the attempt is over'))
  }
  return null
}

async function postponeAll<Tx>(
  parts: AttemptParts<Tx>,
  claimed: readonly ClaimedEvent[],
  postponed: Extract<Result, { kind: 'postponed' }>,
): Promise<Result[]> {
  const leases = claimed.map((one) => one.lease)
  const released = await parts.store.release(leases, postponed.delayMs)
  return released.map((done) => (done ? postponed : { kind: 'lost' }))
}

function timeoutOf<Tx>(handler: Registered<Tx>): number {
  return handler.options.timeoutMs ?? DEFAULT_TIMEOUT_MS
}

async function single<Tx>(
  parts: AttemptParts<Tx>,
  handler: Registered<Tx>,
  one: ClaimedEvent,
  onSession: (session: Session<Tx>) => void,
): Promise<Result> {
  const startedAt = performance.now()
  const session = openSession(parts.store, [one], parts.log, timeoutOf(handler))
  onSession(session)
  const result = await singleResult(parts, handler, one, session, startedAt)
  session.abort(new Error('the attempt is over'))
  report(parts, one, result, performance.now() - startedAt)
  return result
}

async function singleResult<Tx>(
  parts: AttemptParts<Tx>,
  handler: Registered<Tx>,
  one: ClaimedEvent,
  session: Session<Tx>,
  startedAt: number,
): Promise<Result> {
  const over = usedUp(handler.retry, one.tries)
  if (over) return settle(parts, session, handler, over, 0, null)
  let result: Result = { kind: 'succeeded' }
  try {
    if (one.unreadable) throw one.unreadable
    if (one.body === null) throw new Error('its payload has been removed')
    await within(session, timeoutOf(handler), () => call(parts, handler, session))
  } catch (error) {
    result = failureIn(session, error, handler.retry, one, (thrown) => parts.redact.error(thrown, one))
  }
  return settle(parts, session, handler, result, performance.now() - startedAt, null)
}

function call<Tx>(parts: AttemptParts<Tx>, handler: Registered<Tx>, session: Session<Tx>): unknown {
  const source = parts.sources.get(handler.source)!
  const events = session.claimed.map((one) => asHandledEvent(source, one, one.body!))
  return handler.handleBatch!(events, { tx: session.tx, signal: session.signal, log: parts.log })
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? error.name : 'an error'
  } catch {
    return 'an error'
  }
}
