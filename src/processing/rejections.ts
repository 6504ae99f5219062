/**
 * Promises of a handler's own that are rejected and that nobody awaits. Node ends the process for one of them, and with it
 * every other attempt and the intake. Nothing of ours is in an unknown state after it, so a server reports it and goes on.
 * An uncaught exception is another matter: it still ends the process.
 */
import type { Logger } from '../log.js'
import type { EventKey } from '../model.js'
import { stackOf } from './error-text.js'

/** Groups of events whose handler runs now, in this process. */
const running = new Set<readonly EventKey[]>()
const NAMED = 20

export async function whileRunning<T>(events: readonly EventKey[], work: () => Promise<T>): Promise<T> {
  running.add(events)
  try {
    return await work()
  } finally {
    running.delete(events)
  }
}

/** From now on such a rejection is logged with the events whose handlers run, one of which has caused it. */
export function outliveRejections(log: Logger): void {
  process.on('unhandledRejection', (reason) => {
    const events = [...running].flat()
    const names = events.slice(0, NAMED).map(({ source, eventId }) => `${source}/${eventId}`)
    log.error(
      {
        step: 'handle',
        events: names.join(', ') || 'none is running: its attempt is over',
        // The place and not the message, which may quote the payload (I8).
        place: stackOf(reason).split('\n', 1)[0]?.trim() || undefined,
      },
      'a promise was rejected and nobody awaited it; await it in the handler. Its attempt does not know of the failure',
    )
  })
}
