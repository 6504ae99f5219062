/**
 * Suspects: events that may kill their worker, because the workers of their last attempts died. A process leases only one
 * suspect at a time. If it leased several, one that kills the worker each time would use up the attempts of the others.
 */
import type { ClaimedEvent } from '../model.js'
import type { Handlers } from './handlers.js'

/** Lost attempts in a row that make an event a suspect. One crash is not enough. */
const SUSPECT_LOSSES = 2
/** No claims for so long after a suspect has begun: events claimed now would be lost if it kills the worker. */
const PAUSE_MS = 1_000

export interface Suspects {
  /** True while a suspect has just begun. */
  pauseClaims(): boolean
  /** Splits claimed events: those that run now, and the suspects that must wait. */
  sort(claimed: readonly ClaimedEvent[]): {
    readonly toRun: readonly ClaimedEvent[]
    readonly toRelease: readonly ClaimedEvent[]
  }
}

export function createSuspects<Tx>(
  handlers: Pick<Handlers<Tx>, 'resolve'>,
  isLeased: (token: string) => boolean,
): Suspects {
  /** The token of the suspect that runs. */
  let current = ''
  let since = 0

  /** An event in its last attempt is a suspect after one loss: lost once more, it would be a dead letter. */
  function isSuspect({ source, eventType, losses, tries }: ClaimedEvent): boolean {
    if (losses === 0) return false
    const handler = handlers.resolve(source, eventType)
    if (!handler || tries > handler.retry.maxAttempts) return false // no handler will run
    return losses >= SUSPECT_LOSSES || tries === handler.retry.maxAttempts
  }

  return {
    pauseClaims: () => isLeased(current) && performance.now() - since < PAUSE_MS,
    sort(claimed) {
      const suspects = claimed.filter(isSuspect)
      const next = isLeased(current) ? undefined : suspects[0]
      if (next) {
        current = next.lease.token
        since = performance.now()
      }
      const toRelease = new Set(suspects.filter((suspect) => suspect !== next))
      return {
        toRun: toRelease.size === 0 ? claimed : claimed.filter((event) => !toRelease.has(event)),
        toRelease: [...toRelease],
      }
    },
  }
}
