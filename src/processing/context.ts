/** The second argument of a handler, `ctx`, and the fields of log lines about its events. */
import { invalid } from '../errors.js'
import { boundLog, type Logger } from '../log.js'
import { type ClaimedEvent, limits } from '../model.js'
import { labelProblem } from '../references.js'
import type { AttemptDeps } from './attempt.js'
import { Effects, idempotencyKey } from './effect.js'
import type { BatchContext, HandledEvent, HandlerContext } from './handler.js'
import type { PreparedEvent } from './prepare.js'
import { addReference } from './refer.js'
import type { Scope, Session } from './session.js'

export function eventContext<Tx>(
  { store, redact, log }: AttemptDeps<Tx>,
  session: Session<Tx>,
  scope: Scope<Tx>,
  prepared: PreparedEvent,
): HandlerContext<Tx> {
  const { claimed } = prepared
  // Most handlers do not use them.
  let effects: Effects<Tx> | undefined
  let ownLog: HandlerContext<Tx>['log'] | undefined
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
    refer(label, value) {
      scope.insistOnOpen()
      refer(prepared, label, value, log)
    },
    get log() {
      ownLog ??= boundLog(log, logFieldsOf([claimed]))
      return ownLog
    },
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
    refer(event, label, value) {
      scope.insistOnOpen()
      const prepared = ready.find((candidate) => candidate.event === event)
      if (!prepared) throw new TypeError('ctx.refer(event, label, value) needs an event of this batch')
      refer(prepared, label, value, log)
    },
    log: boundLog(log, logFieldsOf(session.claimed)),
  }
}

function refer(prepared: PreparedEvent, label: string, given: string | number, log: Logger): void {
  const problem = labelProblem(label)
  if (problem) throw invalid('The label of ctx.refer', problem)
  if ((typeof given !== 'string' && typeof given !== 'number') || given === '')
    throw invalid('The value of ctx.refer', 'must be text that is not empty, or a number')
  prepared.references ??= []
  if (!addReference(prepared.references, label, given))
    log.warn(
      logFieldsOf([prepared.claimed]),
      `ctx.refer: only the first ${limits.references} references are kept`,
    )
}

/** A line about several events has no event id. */
export function logFieldsOf([first, ...others]: readonly ClaimedEvent[]) {
  const { source, id, type, attempt } = first!
  return others.length === 0 ? { source, eventId: id, type, attempt } : { source, events: others.length + 1 }
}
