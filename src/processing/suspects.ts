/**
 * An event whose last workers died may be what killed them, so only one such event is held at a time. Held together, one
 * that kills its worker each time would use up the attempts of the others.
 */
import type { ClaimedEvent } from '../model.js'
import type { Handlers } from './handlers.js'

/** An event is suspected of killing its worker after so many losses in a row: one crash makes nobody a suspect. */
const SUSPECT_LOSSES = 2
/** No claims so long after a suspect has begun: what is claimed while it kills its worker is lost with it. */
const SUSPECT_ALONE_MS = 1_000

export interface Suspects {
  /** True: a suspect has just begun, and nothing else is to be claimed beside it. */
  isAlone(): boolean
  /** Of what was claimed: the events to run, and the suspects to give back. */
  sort(claimed: readonly ClaimedEvent[]): {
    readonly kept: readonly ClaimedEvent[]
    readonly back: readonly ClaimedEvent[]
  }
}

export function createSuspects<Tx>(
  handlers: Pick<Handlers<Tx>, 'resolve'>,
  isHeld: (token: string) => boolean,
): Suspects {
  /** The token of the suspect that is held. */
  let current = ''
  let since = 0

  /** Also an event whose last attempt this is: lost once more, it would be a dead letter. */
  function isSuspect({ source, eventType, losses, tries }: ClaimedEvent): boolean {
    if (losses === 0) return false
    const handler = handlers.resolve(source, eventType)
    if (!handler || tries > handler.retry.maxAttempts) return false // no handler will run
    return losses >= SUSPECT_LOSSES || tries === handler.retry.maxAttempts
  }

  return {
    isAlone: () => isHeld(current) && performance.now() - since < SUSPECT_ALONE_MS,
    sort(claimed) {
      const suspects = claimed.filter(isSuspect)
      const next = isHeld(current) ? undefined : suspects[0]
      if (next) {
        current = next.lease.token
        since = performance.now()
      }
      const back = new Set(suspects.filter((one) => one !== next))
      return { kept: back.size === 0 ? claimed : claimed.filter((one) => !back.has(one)), back: [...back] }
    },
  }
}
