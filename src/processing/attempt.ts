/**
 * The spine of processing: one attempt on one claimed event.
 *
 *   open      a session holds the transaction of `ctx.tx`; a lost lease or a stop aborts it (`session.ts`)
 *   prepare   decide whether the handler runs, and what it sees. If not, the result is known here (`prepare.ts`)
 *   call      run the handler within its time limit, unless it is not needed (`call.ts`)
 *   settle    write the outcome. If the handler used `ctx.tx`, outcome and effects commit together, or neither does; an
 *             expired lease writes nothing (`settle.ts`)
 *   report    count and log the result (`report.ts`)
 */
import type { Counters } from '../counters.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { Store } from '../store.js'
import { call } from './call.js'
import type { Leases } from './leases.js'
import { prepare } from './prepare.js'
import type { Redactor } from './redact.js'
import type { Registered, Registry } from './registry.js'
import { report } from './report.js'
import { isOutcome, type Result } from './result.js'
import { Session } from './session.js'
import { type LeavePlace, type OutcomeWriter, settle } from './settle.js'

export interface AttemptDeps<Tx> {
  readonly store: Store<Tx>
  readonly registry: Registry<Tx>
  readonly sources: ReadonlyMap<string, Source>
  readonly redact: Redactor
  readonly outcomes: OutcomeWriter
  readonly leases: Leases<Tx>
  /** The number of events that no process handles, by type. */
  readonly unhandled: Map<string, number>
  readonly log: Logger
  readonly counters: Counters
}

/**
 * `handler` is null when this process has none for the type of the event. `leavePlace` is called when the next event may
 * begin. Rejects when the outcome could not be written: the event is tried again when its lease expires.
 */
export async function attempt<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Registered<Tx> | null,
  claimed: ClaimedEvent,
  leavePlace: LeavePlace,
): Promise<Result> {
  const session = openSession(deps, handler, [claimed])
  try {
    const prepared = await prepare(deps, session, handler, claimed)
    const failure = await call(deps, session, handler, [prepared])
    const result = await settle(deps, session, prepared, failure, leavePlace)
    report(deps, handler, prepared, result)
    return prepared.reply && isOutcome(result) && result.kind !== 'failed'
      ? { ...result, reply: prepared.reply }
      : result
  } finally {
    session.end()
  }
}

export function openSession<Tx>(
  { store, leases, log }: AttemptDeps<Tx>,
  handler: Registered<Tx> | null,
  claimed: readonly ClaimedEvent[],
): Session<Tx> {
  const session = new Session(store, claimed, log, handler?.timeoutMs)
  leases.attach(session)
  return session
}
