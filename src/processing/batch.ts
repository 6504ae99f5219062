/**
 * Several claimed events of one handler in one session and one transaction. When it fails, it is rolled back, and dispatch
 * runs each event alone: only the bad event fails. Calls that had succeeded are then made again: what they did in the
 * transaction is undone, what they did outside of it is not.
 */
import type { ClaimedEvent } from '../model.js'
import { type AttemptDeps, openSession } from './attempt.js'
import { call } from './call.js'
import { type PreparedEvent, prepare } from './prepare.js'
import type { Registered } from './registry.js'
import { report } from './report.js'
import { isOutcome, type Result } from './result.js'
import type { Session } from './session.js'
import { type LeavePlace, releaseAll, settleTogether } from './settle.js'
import { callEach } from './share.js'

export interface Called {
  readonly begun: number
  readonly failed: Result | null
}

/** The first events of a batch have begun; the others wait for another attempt. */
export interface BatchEnd {
  /** Null: the events that have begun were rolled back, nothing was written, and each must run alone. */
  readonly results: Result[] | null
  readonly begun: number
  /** The error, when the outcomes could not be written. There are no results then. */
  readonly unwritten?: unknown
}

export async function attemptBatch<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Registered<Tx>,
  events: readonly ClaimedEvent[],
  leavePlace: LeavePlace,
): Promise<BatchEnd> {
  const session = openSession(deps, handler, events)
  try {
    const preparing = events.map((event) => prepare(deps, session, handler, event))
    const prepared = isReady(preparing) ? preparing : await Promise.all(preparing)
    if (!fitTogether(prepared)) return { results: null, begun: events.length }
    const { begun, failed } = handler.handleBatch
      ? { begun: prepared.length, failed: await call(deps, session, handler, prepared) }
      : await callEach(deps, session, handler, prepared)
    let results: Result[] | null
    try {
      results = await settleBatch(deps, session, prepared.slice(0, begun), failed, leavePlace)
    } catch (error) {
      return { results: [], begun, unwritten: error }
    }
    for (const [i, result] of results?.entries() ?? []) report(deps, handler, prepared[i]!, result)
    return { results, begun: results?.length ?? begun }
  } finally {
    session.end()
  }
}

/** True without promises to wait for: a promise for each event would cost more than the rest of this step. */
function isReady(preparing: (PreparedEvent | Promise<PreparedEvent>)[]): preparing is PreparedEvent[] {
  return !preparing.some((one) => one instanceof Promise)
}

/**
 * False when an event has neither a handler to run nor an outcome to write. False also when it is older than an event before
 * it: success of that one would make it stale.
 */
function fitTogether(prepared: readonly PreparedEvent[]): boolean {
  const newest = new Map<string, number>()
  return prepared.every(({ result, watermark }) => {
    if (!isOutcome(result)) return false
    if (!watermark) return true
    const { key, value } = watermark
    const isOlder = value < (newest.get(key) ?? value)
    newest.set(key, value)
    return !isOlder
  })
}

/**
 * Null: the batch failed and was rolled back, and its events must run alone. When no event is to blame (the process stops,
 * or the store had no transaction to give), all are released instead: alone, each would wait for the same connections.
 */
export async function settleBatch<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  begun: readonly PreparedEvent[],
  failed: Result | null,
  leavePlace?: LeavePlace,
): Promise<Result[] | null> {
  const { results, failure } = await settleTogether(deps, session, begun, failed, leavePlace)
  if (results) return results
  const { claimed } = session
  if (failure.kind === 'handed_back' || (failure.kind === 'postponed' && failure.code !== undefined))
    return releaseAll(deps, session, failure)
  const problem = failure.kind === 'failed' ? failure.error : failure.kind
  deps.log.info(
    { source: claimed[0]!.source, events: claimed.length, step: 'settle', problem },
    'batch failed and was rolled back: running its events alone',
  )
  return null
}
