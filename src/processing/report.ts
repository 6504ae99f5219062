import type { LogFields, Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { AttemptDeps } from './attempt.js'
import { logFieldsOf } from './context.js'
import { cut } from './error-text.js'
import type { PreparedEvent } from './prepare.js'
import type { Registered } from './registry.js'
import type { Result } from './result.js'

/** The whole text is stored with the attempt. */
const MAX_LOGGED_ERROR_BYTES = 2_048
/** Senders decide which types there are, so only so many are counted. */
const MAX_TYPES = 1_000

export function report<Tx>(
  deps: AttemptDeps<Tx>,
  handler: Registered<Tx> | null,
  { claimed, durationMs }: PreparedEvent,
  result: Result,
): void {
  const { log, counters } = deps
  counters.of(claimed.source).ended(result, durationMs / 1_000)
  handler?.counters.ended(result, durationMs / 1_000)
  logResult(log, { ...logFieldsOf([claimed]), step: 'settle' }, result)
  if (result.kind === 'ignored' && result.reason === 'unhandled') reportUnhandled(deps, claimed)
}

function logResult(log: Logger, fields: LogFields, result: Result): void {
  switch (result.kind) {
    case 'failed': {
      const place = result.place ? { place: result.place } : {}
      const failed = { ...fields, error: cut(result.error, MAX_LOGGED_ERROR_BYTES), ...place }
      if (result.retryInMs === null) log.warn(failed, 'attempt failed: dead letter')
      else log.warn({ ...failed, retryInMs: result.retryInMs }, 'attempt failed: will be retried')
      break
    }
    case 'lost':
      log.warn({ ...fields, code: 'LEASE_LOST' }, 'lease lost: the result of the attempt was discarded')
      break
    case 'handed_back':
      if (!result.stillRuns)
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

/** The event goes to the review list, because no process handles its type. */
function reportUnhandled<Tx>(
  { log, counters, unhandled }: AttemptDeps<Tx>,
  { source, id, type }: ClaimedEvent,
): void {
  counters.of(source).reviewed++
  const own = `${source} ${type}`
  const counted = unhandled.has(own) || unhandled.size < MAX_TYPES ? own : 'others'
  const events = (unhandled.get(counted) ?? 0) + 1
  unhandled.set(counted, events)
  // The first, the second, the fourth, ...: many senders always send types that an application does not want.
  if ((events & (events - 1)) !== 0) return
  log.warn(
    { source, eventId: id, type, step: 'settle', reason: 'unhandled', events },
    'no process handles this type: event put on the review list. Add a handler and replay it, or ignore the type in a handler for "*"',
  )
}
