/**
 * settle: writes what an attempt came to. Success goes into the handler's transaction, if it has one, and commits with
 * its writes; zero rows means the lease is lost, and everything is undone. Everything else is written beside it.
 */
import { isHookonceError } from '../errors.js'
import type { Outcome, Settlement } from '../model.js'
import type { Store } from '../store.js'
import { checkSettlement } from '../store-input.js'
import { failureIn, type Result } from './handle.js'
import type { Registered } from './handlers.js'
import type { Redactor } from './redact.js'
import type { Session } from './session.js'

export interface SettleParts<Tx> {
  readonly store: Store<Tx>
  readonly redact: Redactor
  /** Outside a transaction; many at once. */
  readonly settleOne: (settlement: Settlement) => Promise<boolean>
}

export interface Mark {
  readonly key: string
  readonly value: number
}

export async function settle<Tx>(
  parts: SettleParts<Tx>,
  session: Session<Tx>,
  handler: Pick<Registered<Tx>, 'retry'>,
  result: Result,
  durationMs: number,
  mark: Mark | null,
): Promise<Result> {
  const claimed = session.claimed[0]!
  const plainly = async (given: Outcome): Promise<Result> => {
    const outcome = writable(given)
    return (await parts.settleOne({ lease: claimed.lease, outcome, durationMs })) ? outcome : { kind: 'lost' }
  }

  const notDone = async (came: Result): Promise<Result> => {
    if (came.kind !== 'handed_back' && came.kind !== 'postponed')
      return came.kind === 'lost' ? came : plainly(came)
    const [handedBack] = await parts.store.release(
      [claimed.lease],
      came.kind === 'postponed' ? came.delayMs : 0,
    )
    return handedBack ? came : { kind: 'lost' }
  }

  if (result.kind !== 'succeeded' && result.kind !== 'ignored') {
    await undo(session)
    return notDone(result)
  }
  if (!session.begun() && !mark) return plainly(result)
  try {
    return await inTransaction(parts, session, result, durationMs, mark)
  } catch (error) {
    await undo(session)
    return settleAfterError(
      parts,
      session,
      result,
      notDone,
      failureIn(session, error, handler.retry, claimed, (thrown) => parts.redact.error(thrown, claimed)),
      error,
    )
  }
}

async function inTransaction<Tx>(
  parts: SettleParts<Tx>,
  session: Session<Tx>,
  outcome: Outcome,
  durationMs: number,
  mark: Mark | null,
): Promise<Result> {
  const claimed = session.claimed[0]!
  const transaction = await session.begin()
  if (mark && !(await transaction.advance({ source: claimed.source, ...mark }))) {
    await transaction.rollback()
    const stale: Outcome = { kind: 'ignored', reason: 'stale' }
    return (await parts.settleOne({ lease: claimed.lease, outcome: stale, durationMs }))
      ? stale
      : { kind: 'lost' }
  }
  const finished = await transaction.finish([{ lease: claimed.lease, outcome, durationMs }])
  return finished ? outcome : { kind: 'lost' }
}

/** COMMIT was sent and its answer never came: the log itself says whether it took effect. */
async function settleAfterError<Tx>(
  parts: SettleParts<Tx>,
  session: Session<Tx>,
  wanted: Outcome,
  notDone: (came: Result) => Promise<Result>,
  failed: Result,
  error: unknown,
): Promise<Result> {
  const claimed = session.claimed[0]!
  if (isHookonceError(error, 'COMMIT_UNKNOWN')) {
    const attempts = await parts.store.attempts(claimed)
    if (attempts.some((one) => one.attempt === claimed.attempt && one.outcome === wanted.kind)) return wanted
  }
  return notDone(failed)
}

/** A transaction that still waits for its turn is not waited for: it is rolled back when it comes. */
export async function undo<Tx>(session: Session<Tx>): Promise<void> {
  const undone = session.begun()?.then((transaction) => transaction.rollback())
  undone?.catch(() => {})
  if (!session.waiting) await undone?.catch(() => {})
}

/**
 * The outcome, or, when no store would take it, a dead letter that says why. Unwritten, it would leave the event to its
 * lease, and fail all that are settled in the same call.
 */
function writable(outcome: Outcome): Outcome {
  try {
    checkSettlement({ lease: { seq: 0, token: '' }, outcome, durationMs: 0 })
    return outcome
  } catch (error) {
    return {
      kind: 'failed',
      error: `its outcome cannot be written: ${(error as Error).message}`,
      retryInMs: null,
    }
  }
}
