/**
 * Counts and logs each delivery. Log lines that any sender can cause go through `repeats`, which limits their number.
 */
import { type Counters, countRejected, countStoreError, UNKNOWN_SOURCE } from '../counters.js'
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { Logger, RepeatedLines } from '../log.js'
import { type EventKey, limits, named, type RecordVerdict, type State } from '../model.js'
import { earlyAnswer, failureAnswer, type Receipt } from './answer.js'
import type { Answer } from './intake.js'
import type { EarlyRefusal } from './receive.js'

export interface ObserverDeps {
  readonly sources: ReadonlyMap<string, unknown>
  readonly counters: Counters
  readonly log: Logger
  readonly repeats: RepeatedLines
  /** The stack of an error without its message. */
  readonly stackOf: (error: unknown) => string
}

export type IntakeObserver = ReturnType<typeof intakeObserver>

export function intakeObserver({ sources, counters, log, repeats, stackOf }: ObserverDeps) {
  /** Returns the name that the delivery is counted under. Unknown names share one counter. */
  function received(source: string | null): string {
    const counted = source !== null && sources.has(source) ? source : UNKNOWN_SOURCE
    counters.of(counted).received++
    return counted
  }

  function rejected(source: string, step: string, receipt: Receipt): Receipt {
    const reason = receipt.reason ?? receipt.status
    countRejected(counters.of(source), reason)
    repeats.warn({ source, step, reason, httpStatus: receipt.httpStatus }, 'delivery rejected')
    return receipt
  }

  function rejectedBeforeIntake(source: string, reason: string): string {
    const counted = received(source)
    countRejected(counters.of(counted), reason)
    return counted
  }

  function countVerdict(source: string, eventId: string, verdict: RecordVerdict): void {
    const own = counters.of(source)
    if (verdict.status === 'replayed') own.replayed++
    else if (verdict.status === 'duplicate') {
      own.duplicates++
      if (verdict.equal) return
      own.conflicts++
      log.warn({ source, step: 'record', eventId, reason: 'conflict' }, 'known id with other bytes')
    } else if (verdict.status === 'recorded') {
      own.recorded++
      if (verdict.sameAs !== undefined) countKnownContent(source, eventId, verdict.state, verdict.sameAs)
    }
  }

  function countKnownContent(source: string, eventId: string, state: State, sameAs: string): void {
    const own = counters.of(source)
    if (state === 'ignored') {
      own.replayed++
      own.reviewed++
      const line = { source, eventId, step: 'record', reason: 'replayed_content' }
      log.warn(line, 'event put on the review list')
      return
    }
    own.flagged++
    // Genuine senders repeat content, and a line for each time would fill the log. The metric counts all.
    if (!isPowerOfTwo(own.flagged)) return
    log.warn({ source, eventId, step: 'record', sameAs }, 'same signed content as another event')
  }

  /** Without the message, which may quote the delivery. */
  function logBug(source: string, step: string, error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error
    repeats.error(
      { source, step, code: codeOf(error), error: name, stack: stackOf(error) },
      'unexpected error',
    )
  }

  return {
    received,

    answered(counted: string, { step, receipt }: Answer, startedAt: number): Receipt {
      const own = counters.of(counted)
      if (receipt.status === 'handshake') own.handshakes++
      else if (receipt.httpStatus < 400 || isProcessed(receipt)) {
        own.ackSeconds.observe((performance.now() - startedAt) / 1_000)
      } else if (step === 'handle') countRejected(own, receipt.reason ?? receipt.status)
      else rejected(counted, step, receipt)
      return receipt
    },

    /** An adapter has refused a request before there was a delivery. */
    refusedEarly(source: string | null, refusal: EarlyRefusal): Receipt {
      return rejected(received(source), 'receive', earlyAnswer(refusal))
    },

    /** The application has read the body, so the signature cannot be checked. */
    bodyConsumed(source: string, path: string): Receipt {
      const { code, httpStatus, message } = new HookonceError('BODY_CONSUMED', { path })
      repeats.error({ source: rejectedBeforeIntake(source, code), step: 'receive', code }, message)
      return failureAnswer(httpStatus, code, 'failed')
    },

    /** A step of intake has thrown. */
    broken(source: string, error: unknown): Receipt {
      const code = codeOf(error)
      countRejected(counters.of(source), code)
      logBug(source, 'receive', error)
      return failureAnswer(500, code, 'failed')
    },

    storeNotOpen(source: string, error: unknown): void {
      const problem = error instanceof HookonceError ? error.message : 'unexpected'
      repeats.error({ source, step: 'record', problem }, 'store not open')
    },

    stopped: (source: string) => void rejectedBeforeIntake(source, 'STORE_CLOSED'),

    storeFailed(source: string, error: unknown): ErrorCode {
      if (!isHookonceError(error)) logBug(source, 'record', error)
      return countStoreError(counters, error)
    },

    /** The event is recorded with its first references. */
    referencesCut(source: string, eventId: string): void {
      const own = counters.of(source)
      own.referencesCut++
      if (!isPowerOfTwo(own.referencesCut)) return
      const line = { source, eventId, step: 'identify', events: own.referencesCut }
      log.warn(line, `more than ${limits.references} references: the others are left out`)
    },

    /** Whatever the answer is: the delivery is durable. */
    spooled: (source: string) => void counters.of(source).spooled++,

    /** A delivery was recorded: now, or later out of the spool. */
    countVerdicts(source: string, ids: readonly string[], verdicts: readonly RecordVerdict[]): void {
      for (const [i, verdict] of verdicts.entries()) countVerdict(source, ids[i]!, verdict)
    },

    notHandled(key: EventKey, error: unknown): void {
      log.error({ ...named(key), step: 'handle', code: codeOf(error) }, 'could not be handled in the request')
    },

    notRearmed(key: EventKey, error: unknown): void {
      log.error({ ...named(key), step: 'record', code: codeOf(error) }, 'dead letter could not be retried')
    },
  }
}

/** A reply of a handler may have any status: a decision against the sender is no rejection. */
function isProcessed({ status }: Receipt): boolean {
  return status === 'processed' || status === 'already_processed'
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0
}
