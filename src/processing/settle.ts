/**
 * settle: writes the results of an attempt. When the handler has used its transaction, the outcomes go into it and commit
 * with the handler's writes; a lost lease rolls everything back. Other results are written without a transaction.
 */
import { isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent, Outcome, Settlement } from '../model.js'
import { checkSettlement } from '../store/input.js'
import type { Store, Watermark } from '../store.js'
import { type FailureDeps, failureIn, isOutcome, type Result } from './handle.js'
import type { PreparedEvent } from './prepare.js'
import type { Session } from './session.js'

export interface SettleDeps<Tx> extends FailureDeps<Tx> {
  readonly store: Store<Tx>
  readonly log: Logger
  /** Writes an outcome without a transaction; calls at the same time share a write. */
  readonly settleOne: (settlement: Settlement) => Promise<boolean>
}

/** The handler has returned, and its place may be given to another event. */
export interface SettleHooks {
  /** All effects are visible; only the outcomes are not written yet. */
  onHandled?(): void
  /** Effects and outcomes are being committed, and the next transaction can begin behind the commit. */
  onCommitSent?(): void
}

/**
 * `begun`: the events of the session that have begun. `failed`: the result when the handler did not return. Resolves to
 * their results, and to those of all events of the session when they are released. Null: split the group, nothing was
 * written.
 */
export async function settle<Tx>(
  deps: SettleDeps<Tx>,
  session: Session<Tx>,
  begun: readonly PreparedEvent[],
  failed: Result | null,
  hooks: SettleHooks = {},
): Promise<Result[] | null> {
  const { claimed } = session
  const results = begun.map(({ result }) => result)
  let failure = failed ?? results.find((result) => !isOutcome(result)) ?? null
  if (!failure) {
    const outcomes = results.filter(isOutcome)
    const watermarks = begun.flatMap(({ watermark, result }) =>
      watermark && result.kind === 'succeeded' ? [watermark] : [],
    )
    if (!session.begun() && watermarks.length === 0) {
      const written = writeOutcomes(deps, begun, outcomes)
      hooks.onHandled?.()
      return written
    }
    failure = await commit(deps, session, begun, outcomes, watermarks, hooks.onCommitSent)
    if (!failure) return results
  }
  await session.rollBack()
  if (claimed.length > 1 && !concernsAll(failure)) {
    deps.log.info(
      {
        source: claimed[0]!.source,
        events: claimed.length,
        step: 'settle',
        problem: failure.kind === 'failed' ? failure.error : failure.kind,
      },
      'batch failed and was rolled back: running its events one by one',
    )
    return null
  }
  return isOutcome(failure) ? writeOutcomes(deps, begun, [failure]) : giveBack(deps, claimed, failure)
}

/**
 * `settleOne` for a store. Calls while a write is running go into the next write, so that many small writes become few
 * large ones without a timer. Group commit in `intake/group-commit.ts` is the same idea with limits on what waits.
 */
export function batchedSettle(store: Pick<Store, 'settle'>): (settlement: Settlement) => Promise<boolean> {
  interface Call {
    readonly settlement: Settlement
    readonly resolve: (settled: boolean) => void
    readonly reject: (error: unknown) => void
  }
  const waiting: Call[] = []
  let running = 0
  let scheduled = false

  function writeNext(): void {
    scheduled = false
    while (waiting.length > 0 && running < MAX_WRITES) void write(waiting.splice(0, MAX_SETTLEMENTS))
  }

  async function write(calls: readonly Call[]): Promise<void> {
    running++
    try {
      const settled = await store.settle(calls.map(({ settlement }) => settlement))
      for (const [i, { resolve }] of calls.entries()) resolve(settled[i]!)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    } finally {
      running--
      writeNext()
    }
  }

  return (settlement) =>
    new Promise((resolve, reject) => {
      waiting.push({ settlement, resolve, reject })
      if (scheduled || running >= MAX_WRITES) return
      scheduled = true
      setImmediate(writeNext)
    })
}

const MAX_SETTLEMENTS = 500
const MAX_WRITES = 1

/** Null when it was committed; else the result of the failure, and nothing was kept. */
async function commit<Tx>(
  deps: SettleDeps<Tx>,
  session: Session<Tx>,
  begun: readonly PreparedEvent[],
  outcomes: readonly Outcome[],
  watermarks: readonly Watermark[],
  onSent: (() => void) | undefined,
): Promise<Result | null> {
  try {
    const transaction = await session.begin()
    // Always in the order of their keys: two groups that moved the same watermarks in another order could deadlock.
    for (const watermark of [...watermarks].sort(byKey))
      if (!(await transaction.keys!.advance(watermark))) return { kind: 'ignored', reason: 'stale' }
    const finished = await transaction.finish(settlementsOf(begun, outcomes), onSent)
    return finished ? null : { kind: 'lost' }
  } catch (error) {
    await session.rollBack()
    if (isHookonceError(error, 'COMMIT_UNKNOWN') && (await wasCommitted(deps, begun[0]!, outcomes[0]!)))
      return null
    return failureIn(deps, session, error)
  }
}

/** The answer to COMMIT was lost. The outcomes of a group commit together, so the log is read for one of its events. */
async function wasCommitted<Tx>(
  { store }: SettleDeps<Tx>,
  { claimed }: PreparedEvent,
  outcome: Outcome,
): Promise<boolean> {
  if (!store.inspect) {
    const event = await store.get(claimed)
    return event?.state === outcome.kind && event.attempts === claimed.attempt
  }
  const attempts = await store.inspect.attempts(claimed)
  return attempts.some((row) => row.attempt === claimed.attempt && row.outcome === outcome.kind)
}

async function writeOutcomes<Tx>(
  deps: SettleDeps<Tx>,
  begun: readonly PreparedEvent[],
  outcomes: readonly Outcome[],
): Promise<Result[]> {
  const settlements = settlementsOf(begun, outcomes.map(writable))
  const written = await Promise.all(settlements.map(deps.settleOne))
  return settlements.map(({ outcome }, i) => (written[i] ? outcome : { kind: 'lost' }))
}

/** For a failure that leaves the events as they were. */
async function giveBack<Tx>(
  deps: SettleDeps<Tx>,
  claimed: readonly ClaimedEvent[],
  failure: Exclude<Result, Outcome>,
): Promise<Result[]> {
  if (failure.kind === 'lost') return claimed.map(() => failure)
  const released = await deps.store.release(
    claimed.map(({ lease }) => lease),
    failure.kind === 'postponed' ? failure.delayMs : 0,
  )
  return released.map((done) => (done ? failure : { kind: 'lost' }))
}

/**
 * True when no event of the group is to blame: the process stops, or the store had no transaction to give. One by one, the
 * events would each wait as long for the same connections.
 */
function concernsAll(failure: Result): boolean {
  return failure.kind === 'handed_back' || (failure.kind === 'postponed' && failure.code !== undefined)
}

/**
 * The outcome, or a dead letter with the reason when no store accepts it. An outcome that is never written would leave the
 * event to its lease, and fail all that are settled in the same call.
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

function settlementsOf(begun: readonly PreparedEvent[], outcomes: readonly Outcome[]): Settlement[] {
  return begun.map(({ claimed: { lease }, durationMs }, i) => ({ lease, outcome: outcomes[i]!, durationMs }))
}

function byKey(a: Watermark, b: Watermark): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}
