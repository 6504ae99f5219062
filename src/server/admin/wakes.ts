/**
 * "Something may be new": for streams and for workers that wait. What this process recorded shows in its counters, what
 * others recorded in the store's bell; a look every so often covers the rest. Who waits is woken at most once a tick,
 * however fast events come in.
 */
import type { Inbox } from '../../inbox.js'

const TICK_MS = 100

export interface Wakes {
  /** Changes when something may be new. Read it before looking, give it to `wait` after. */
  count(): number
  /** Resolves when the mark is no longer this one or `ms` are over. False: stop, by the signal or because it was closed. */
  wait(count: number, ms: number, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

interface Waiter {
  readonly count: number
  readonly until: number
  readonly resolve: () => void
}

export function createWakes(inbox: Inbox): Wakes {
  const waiters = new Set<Waiter>()
  let notified = 0
  let closed = false
  let ticker: NodeJS.Timeout | undefined
  let subscription: Promise<() => Promise<void>> | undefined

  const count = () => notified + inbox.counters.committed

  function tick(): void {
    const now = performance.now()
    const current = count()
    for (const waiter of waiters) {
      if (closed || waiter.count !== current || waiter.until <= now) waiter.resolve()
    }
  }

  /** Asked for once, by the first who waits. Without it there is still the look every so often. */
  function subscribe(): void {
    subscription ??= inbox
      .store()
      .then((store) => store.subscribe(() => notified++))
      .catch(() => {
        subscription = undefined
        return async () => {}
      })
  }

  return {
    count,
    wait(since, ms, signal) {
      if (closed || signal.aborted) return Promise.resolve(false)
      subscribe()
      ticker ??= setInterval(tick, TICK_MS)
      return new Promise((resolve) => {
        const waiter: Waiter = {
          count: since,
          until: performance.now() + ms,
          resolve() {
            waiters.delete(waiter)
            signal.removeEventListener('abort', waiter.resolve)
            if (waiters.size === 0) {
              clearInterval(ticker)
              ticker = undefined
            }
            resolve(!closed && !signal.aborted)
          },
        }
        waiters.add(waiter)
        signal.addEventListener('abort', waiter.resolve)
      })
    },
    async close() {
      closed = true
      tick()
      const unsubscribe = await subscription
      await unsubscribe?.().catch(() => {})
    },
  }
}
