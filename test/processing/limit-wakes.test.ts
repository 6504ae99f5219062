/** When a limit looks again at the events that wait for it, in virtual time. */
import { silentLog } from 'hookonce'
import type { ClaimedEvent } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Counters } from '../../dist/counters.js'
import { Limits } from '../../dist/processing/limits.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('a start that becomes due between the look at the waiting events and the end of that look is not forgotten', async () => {
  const handler = { source: 'shop', pattern: '*', options: { limit: { perSecond: 20 } }, meanMs: null }
  const queue = [{ source: 'shop', id: 'a', reference: null } as unknown as ClaimedEvent]
  let wakes = 0
  const startAt = performance.now() + 100
  const limits = new Limits({
    store: {
      grants: {
        take: async () => ({
          now: performance.now(),
          grants: [{ slots: 0, starts: 1, firstStartAt: startAt, pausedUntil: 0 }],
        }),
      },
    } as never,
    log: silentLog,
    counters: new Counters(),
    places: { size: 4, active: 0 },
    worker: 'w',
    leaseMs: 30_000,
    wake: () => void wakes++,
  })
  const waiting = [[handler, queue]] as never
  limits.plan(waiting)
  await vi.advanceTimersByTimeAsync(0)
  expect(wakes).toBe(1) // the store has answered
  await vi.advanceTimersByTimeAsync(99)
  expect(limits.first(handler as never, queue)).toBe(-1)
  await vi.advanceTimersByTimeAsync(1)
  limits.plan(waiting)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(wakes).toBe(2)
})
