/** The second argument of a handler, `ctx`, and the fields of log lines about its events. */
import { boundLog } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { AttemptDeps } from './attempt.js'
import { Effects, idempotencyKey } from './effect.js'
import type { BatchContext, HandledEvent, HandlerContext } from './handler.js'
import type { PreparedEvent } from './prepare.js'
import type { Scope, Session } from './session.js'

export function eventContext<Tx>(
  { store, redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  scope: Scope<Tx>,
  prepared: PreparedEvent,
): HandlerContext<Tx> {
  const { claimed } = prepared
  let effects: Effects<Tx> | undefined // most handlers do not use it
  return {
    tx: scope.tx,
    once(name, fn, options) {
      effects ??= new Effects(store, session, scope, claimed)
      return effects.once(name, fn, options)
    },
    idempotencyKey: (name) => idempotencyKey(claimed, name),
    attempt: claimed.tries,
    run: claimed.run,
    get signal() {
      return session.signal
    },
    ignore(reason) {
      prepared.result = { kind: 'ignored', reason: redact.reason(reason, claimed) }
    },
    log: boundLog(log, logFieldsOf([claimed])),
  }
}

export function batchContext<Tx>(
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
    log: boundLog(log, logFieldsOf(session.claimed)),
  }
}

/** A line about several events has no event id. */
export function logFieldsOf([first, ...others]: readonly ClaimedEvent[]) {
  const { source, id, type, attempt } = first!
  return others.length === 0 ? { source, eventId: id, type, attempt } : { source, events: others.length + 1 }
}
