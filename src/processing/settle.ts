/**
 * settle: writes the results of an attempt. When the handler has used its transaction, the outcomes go into it and commit
 * with the handler's writes; a lost lease rolls everything back. A reply and a watermark go into a transaction too. Other
 * outcomes are written without one.
 */
import { isHookonceError } from '../errors.js'
import type { Outcome, Settlement } from '../model.js'
import { checkSettlement } from '../store/input.js'
import type { Store, Watermark } from '../store.js'
import type { AttemptDeps } from './attempt.js'
import type { PreparedEvent } from './prepare.js'
import { failureIn, isOutcome, type Result } from './result.js'
import type { Session } from './session.js'

const MAX_SETTLEMENTS = 500

/**
 * The handler has returned, and its place may be given to another event. `isVisible`: other transactions see its effects,
 * and only the outcomes are not written yet. Otherwise the commit is under way, and the next transaction can begin behind it.
 */
export type LeavePlace = (isVisible: boolean) => void

/** `failed`: the result when the handler did not return. */
export async function settle<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  prepared: PreparedEvent,
  failed: Result | null,
  leavePlace?: LeavePlace,
): Promise<Result> {
  const { results, failure } = await settleTogether(deps, session, [prepared], failed, leavePlace)
  if (results) return results[0]!
  const [result] = isOutcome(failure)
    ? await writeOutcomes(deps, [withoutReferences(prepared)], [failure])
    : await releaseAll(deps, session, failure)
  return result!
}

/** They belong to the effects that were rolled back. */
function withoutReferences({ references: _, ...prepared }: PreparedEvent): PreparedEvent {
  return prepared
}

export type SettledTogether =
  | { readonly results: Result[]; readonly failure: null }
  | { readonly results: null; readonly failure: Result }

/** All or nothing: with a failure everything was rolled back, and nothing was written. */
export async function settleTogether<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  begun: readonly PreparedEvent[],
  failed: Result | null,
  leavePlace?: LeavePlace,
): Promise<SettledTogether> {
  const results = begun.map(({ result }) => result)
  let failure = failed ?? results.find((result) => !isOutcome(result)) ?? null
  if (!failure) {
    const outcomes = results.filter(isOutcome)
    const watermarks = begun.flatMap(({ watermark, result }) =>
      watermark && result.kind === 'succeeded' ? [watermark] : [],
    )
    const isAnswered = begun.some(({ reply }) => Boolean(reply))
    if (!session.transaction && watermarks.length === 0 && !isAnswered) {
      const written = writeOutcomes(deps, begun, outcomes)
      leavePlace?.(true)
      return { results: await written, failure: null }
    }
    failure = await commit(deps, session, begun, outcomes, watermarks, () => leavePlace?.(false))
    if (!failure) return { results, failure: null }
  }
  await session.rollBack()
  return { results: null, failure }
}

export async function releaseAll<Tx>(
  { store }: AttemptDeps<Tx>,
  { claimed, stillRunning }: Session<Tx>,
  failure: Exclude<Result, Outcome>,
): Promise<Result[]> {
  if (failure.kind === 'lost') return claimed.map(() => failure)
  const ended = claimed.filter((event) => !stillRunning.includes(event))
  const leases = ended.map(({ lease }) => lease)
  const delayMs = failure.kind === 'postponed' ? failure.delayMs : 0
  const released = leases.length > 0 ? await store.release(leases, delayMs) : []
  const alive = new Set(ended.filter((_, i) => released[i]))
  return claimed.map((event) => {
    if (stillRunning.includes(event)) return { kind: 'handed_back', stillRuns: true }
    return alive.has(event) ? failure : { kind: 'lost' }
  })
}

/** Null when it was committed; else the result of the failure, and nothing was kept. */
async function commit<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  begun: readonly PreparedEvent[],
  outcomes: readonly Outcome[],
  watermarks: readonly Watermark[],
  onSent: () => void,
): Promise<Result | null> {
  try {
    const transaction = await session.begin()
    // Always in the order of their keys: two groups that moved the same watermarks in another order could deadlock.
    for (const watermark of [...watermarks].sort(byKey))
      if (!(await transaction.keys!.advance(watermark))) return { kind: 'ignored', reason: 'stale' }
    for (const { claimed, reply } of begun) if (reply) await transaction.replies!.put(claimed, reply)
    const finished = await transaction.finish(settlementsOf(begun, outcomes), onSent)
    return finished ? null : { kind: 'lost' }
  } catch (error) {
    await session.rollBack()
    if (isHookonceError(error, 'COMMIT_UNKNOWN') && (await wasCommitted(deps, begun[0]!, outcomes[0]!)))
      return null
    // A stop or a lost lease also ends the wait for a connection; that error is only its consequence.
    return failureIn(deps, session, session.reason ?? error)
  }
}

/** The answer to COMMIT was lost. The outcomes of a group commit together, so the log is read for one of its events. */
async function wasCommitted<Tx>(
  { store }: AttemptDeps<Tx>,
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
  deps: AttemptDeps<Tx>,
  begun: readonly PreparedEvent[],
  outcomes: readonly Outcome[],
): Promise<Result[]> {
  const settlements = settlementsOf(begun, outcomes.map(writable))
  const written = await Promise.all(settlements.map((settlement) => deps.outcomes.write(settlement)))
  return settlements.map(({ outcome }, i) => (written[i] ? outcome : { kind: 'lost' }))
}

/**
 * An outcome that no store accepts becomes a dead letter with the reason. Never written, it would leave the event to its
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

function settlementsOf(begun: readonly PreparedEvent[], outcomes: readonly Outcome[]): Settlement[] {
  return begun.map(({ claimed: { lease }, durationMs, references }, i) => ({
    ...{ lease, outcome: outcomes[i]!, durationMs },
    ...(references !== undefined && { references }),
  }))
}

function byKey(a: Watermark, b: Watermark): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/**
 * Writes outcomes without a transaction. Calls while a write is running go into the next write, so many small writes become
 * few large ones without a timer.
 */
export class OutcomeWriter {
  readonly #store: Pick<Store, 'settle'>
  readonly #waiting: Waiting[] = []
  #isBusy = false

  constructor(store: Pick<Store, 'settle'>) {
    this.#store = store
  }

  write(settlement: Settlement): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ settlement, resolve, reject })
      if (this.#isBusy) return
      this.#isBusy = true
      setImmediate(() => void this.#writeAll())
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0, MAX_SETTLEMENTS)
      try {
        const settled = await this.#store.settle(calls.map(({ settlement }) => settlement))
        for (const [i, { resolve }] of calls.entries()) resolve(settled[i]!)
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    this.#isBusy = false
  }
}

interface Waiting {
  readonly settlement: Settlement
  readonly resolve: (settled: boolean) => void
  readonly reject: (error: unknown) => void
}
