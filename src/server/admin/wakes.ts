/**
 * Notifies streams and waiting workers of new events. Events of this process show in its counters, events of other
 * processes in the notifications of the store. Callers poll as well, because a notification can be lost. A caller is
 * woken at most once a tick, however fast events arrive.
 */
import type { WholeInbox } from '../../inbox/internals.js'

const TICK_MS = 100

export interface Wakes {
  /** Changes when there may be new events. Read it before the query, and pass it to `wait` after the query. */
  count(): number
  /** True when the number has changed or `ms` are over; false when the signal was aborted or this was closed. */
  wait(count: number, ms: number, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

interface Waiter {
  readonly count: number
  readonly until: number
  readonly resolve: () => void
}

export function createWakes(inbox: WholeInbox): Wakes {
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
