/**
 * call: runs a handler within its time limit. A call that is out of time keeps its attempt until it ends, and with it the
 * lease of its event and the turn of its lane. So attempts of one event overlap only when a call never ends. At a stop the
 * call has a moment to end. If it still runs then, its lease is not released.
 */
import { atMost } from '../clock.js'
import { durationText } from '../duration.js'
import { HookonceError, isHookonceError } from '../errors.js'
import type { ClaimedEvent } from '../model.js'
import type { AttemptDeps } from './attempt.js'
import { batchContext, eventContext, logFieldsOf } from './context.js'
import { runningNow } from './floating-promises.js'
import type { PreparedEvent } from './prepare.js'
import type { Registered } from './registry.js'
import { refuseReply, replyIn } from './reply.js'
import { failureIn, NeedsOwnTransaction, type Result, Stopping } from './result.js'
import type { Scope, Session } from './session.js'

/** The shortest time for which a call that is out of time is waited for; a longer time limit is waited for again. */
const MIN_OVERTIME_MS = 10_000
/** Most calls end when their signal is aborted; one that still runs after this time is reported. */
const REPORT_AFTER_MS = 1_000
/** How long a call may run on after a stop has aborted its signal. */
const STOPPING_MS = 1_000

/**
 * Calls the handler with the events that need it; does nothing if no event does. Resolves to null when the handler has
 * returned, else to the result of its failure. `limitMs`: the time limit of a handler that shares its transaction; after
 * it, each event needs its own transaction.
 */
export async function call<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
  prepared: readonly PreparedEvent[],
  limitMs?: number,
): Promise<Result | null> {
  const ready = prepared.filter(({ event }) => event !== null)
  if (!handler || ready.length === 0) return null
  const timeoutMs = limitMs ?? handler.timeoutMs
  const events = ready.map(({ claimed }) => claimed)
  const startedAt = performance.now()
  const scope = session.scope(events)
  let timer: NodeJS.Timeout | undefined
  let returned: Promise<void> | undefined
  try {
    if (session.reason) throw session.reason
    returned = invoke(deps, session, scope, handler, ready, events)
    timer = setTimeout(() => session.abort(timedOut(session, timeoutMs, limitMs !== undefined)), timeoutMs)
    await session.untilAborted(returned)
    return null
  } catch (error) {
    clearTimeout(timer)
    scope.close()
    // An event whose lease is lost may run elsewhere already.
    if (returned && session.reason && !isHookonceError(session.reason, 'LEASE_LOST')) {
      const fields = { ...logFieldsOf(events), handler: handler.pattern, step: 'handle' }
      const warn = (text: string) => deps.log.warn(fields, text)
      void session.rollBack() // its locks are not held any longer, and SQL that still runs is cancelled
      if (!(session.reason instanceof Stopping))
        await overtime(session, returned, error, Math.max(timeoutMs, MIN_OVERTIME_MS), warn)
      if (session.isStopping && (await ignoresStop(returned, warn))) {
        session.stillRunning = events
        return { kind: 'handed_back' }
      }
    }
    return failureIn(deps, session, error)
  } finally {
    clearTimeout(timer)
    scope.close()
    for (const one of ready) one.durationMs = performance.now() - startedAt
  }
}

function timedOut<Tx>(session: Session<Tx>, timeoutMs: number, isShared: boolean): Error {
  const problem = `the handler took longer than ${timeoutMs} ms`
  if (isShared) return new NeedsOwnTransaction(problem)
  return session.isWaiting ? new HookonceError('POOL_EXHAUSTED', { waitedMs: timeoutMs }) : new Error(problem)
}

async function invoke<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  scope: Scope<Tx>,
  handler: Registered<Tx>,
  ready: readonly PreparedEvent[],
  events: readonly ClaimedEvent[],
): Promise<void> {
  runningNow.add(events)
  try {
    if (handler.handleBatch)
      refuseReply(
        await handler.handleBatch(
          ready.map(({ event }) => event!),
          batchContext(deps, session, scope, ready),
        ),
      )
    else {
      const [one] = ready as readonly [PreparedEvent]
      const returned = await handler.handle!(one.event!, eventContext(deps, session, scope, one))
      one.reply = replyIn(deps.store, deps.sources, one.claimed, returned)
    }
    if (scope.calls.isOpen) await scope.calls.ended()
  } finally {
    runningNow.delete(events)
  }
}

/** Waits for a call that is out of time, and says in its error when it never ended. */
async function overtime<Tx>(
  session: Session<Tx>,
  returned: Promise<void>,
  error: unknown,
  overtimeMs: number,
  warn: (text: string) => void,
): Promise<void> {
  let isOver = false
  const over = Promise.race([returned.catch(() => {}), session.abandoned]).then(() => {
    isOver = true
  })
  await atMost(REPORT_AFTER_MS, over)
  if (isOver) return
  warn(
    'the handler still runs after its time limit: its event and its lane wait; end it when ctx.signal is aborted',
  )
  await atMost(overtimeMs - REPORT_AFTER_MS, over)
  if (isOver) return
  warn(
    'the handler still runs long after its time limit: its attempt ends, and the next one may run beside it',
  )
  if (error instanceof Error && !isHookonceError(error) && !(error instanceof NeedsOwnTransaction))
    error.message += `, and still ran ${durationText(overtimeMs)} later: it must end when ctx.signal is aborted`
}

/** True when the call still runs some time after the stop has aborted its signal. */
async function ignoresStop(returned: Promise<void>, warn: (text: string) => void): Promise<boolean> {
  let isOver = false
  const over = returned
    .catch(() => {})
    .then(() => {
      isOver = true
    })
  await atMost(STOPPING_MS, over)
  if (!isOver)
    warn(
      'the handler ignores the stop of the process: its event waits until the lease expires; end it when ctx.signal is aborted',
    )
  return !isOver
}
