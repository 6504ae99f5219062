/**
 * Whether the store can be reached, as far as this process knows. While it cannot, deliveries go straight to the spool
 * and none of them waits for a connection; the drain finds out when it can again.
 */
import { codeOf, type ErrorCode, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'

export interface Circuit {
  readonly open: boolean
  /** Why the store could not be written to the last time it was tried; null once it could. */
  readonly lastError: string | null
  trip(error: unknown): void
  reset(): void
}

export function createCircuit(log: Logger): Circuit {
  let lastError: string | null = null
  return {
    get open() {
      return lastError !== null
    },
    get lastError() {
      return lastError
    },
    trip(error) {
      if (lastError === null)
        log.warn({ step: 'record', code: codeOf(error) }, 'store away: deliveries go to the spool')
      lastError = error instanceof Error ? error.message : String(error)
    },
    reset() {
      if (lastError !== null) log.warn({ step: 'record' }, 'store is back')
      lastError = null
    },
  }
}

/** Errors that are about this process and not about the store: a spool would only hide them. */
const notForTheSpool: readonly ErrorCode[] = ['INVALID_INPUT', 'STORE_CLOSED', 'STORE_URL', 'DRIVER_MISSING']

/**
 * An outage, a store that is busy or full, a schema that is not there yet, and a commit whose end nobody knows: to
 * record again later is right for each, because the unique key makes the second time a duplicate.
 */
export function isForTheSpool(error: unknown): boolean {
  return isHookonceError(error) && !notForTheSpool.includes(error.code)
}
