/** report: counts and logs the result of an attempt. */
import { type Counters, countAttempt, countHandled } from '../counters.js'
import type { LogFields, Logger } from '../log.js'
import { logFieldsOf } from './context.js'
import { cut } from './error-text.js'
import type { PreparedEvent } from './prepare.js'
import type { Registered } from './registry.js'
import type { Result } from './result.js'

/** The whole text is stored with the attempt. */
const MAX_LOGGED_ERROR_BYTES = 2_048

export function report<Tx>(
  { log, counters }: { readonly log: Logger; readonly counters: Counters },
  handler: Registered<Tx> | null,
  { claimed, durationMs }: PreparedEvent,
  result: Result,
): void {
  countAttempt(counters, claimed.source, result, durationMs / 1_000)
  if (handler) countHandled(handler.counters, result, durationMs / 1_000)
  logResult(log, { ...logFieldsOf([claimed]), step: 'settle' }, result)
}

function logResult(log: Logger, fields: LogFields, result: Result): void {
  switch (result.kind) {
    case 'failed': {
      const place = 'place' in result && result.place ? { place: result.place } : {}
      const failed = { ...fields, error: cut(result.error, MAX_LOGGED_ERROR_BYTES), ...place }
      if (result.retryInMs === null) log.warn(failed, 'attempt failed: dead letter')
      else log.warn({ ...failed, retryInMs: result.retryInMs }, 'attempt failed: will be retried')
      break
    }
    case 'lost':
      log.warn({ ...fields, code: 'LEASE_LOST' }, 'lease lost: the result of the attempt was discarded')
      break
    case 'handed_back':
      log.info(fields, 'released because the process is stopping: the attempt does not count')
      break
    case 'postponed': {
      const { code, delayMs } = result
      if (code)
        log.warn(
          { ...fields, code, delayMs },
          'the store failed: will be tried again, the attempt does not count',
        )
      else log.debug({ ...fields, delayMs }, 'postponed by the handler: the attempt does not count')
      break
    }
    default:
      log.debug({ ...fields, outcome: result.kind }, 'event settled')
  }
}
