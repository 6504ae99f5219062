/** What a process believes to have of a limit, while the store is asked. In virtual time. */
import { silentLog } from 'hookonce'
import type { ClaimedEvent, GrantHolder, GrantRequest } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Counters } from '../../dist/counters.js'
import { Limits } from '../../dist/processing/limits.js'
import { StoreTime } from '../../dist/processing/store-time.js'

const ANSWER_MS = 40

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Grants as both stores do, and answers later. */
function slowStore() {
  const held = new Map<string, number>()
  const requests: GrantRequest[] = []
  const store = { isLost: false, requests, grants: { take } }
  async function take({ id }: GrantHolder, wanted: readonly GrantRequest[]) {
    const grants = wanted.map((request) => {
      requests.push(request)
      const others = [...held].reduce((sum, [holder, slots]) => sum + (holder === id ? 0 : slots), 0)
      const slots = request.slots
        ? Math.max(0, Math.min(request.slots.wanted, request.slots.most - others))
        : 0
      held.set(id, slots)
      return { slots, starts: 0, firstStartAt: 0, pausedUntil: 0 }
    })
    const now = performance.now()
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS))
    if (store.isLost) throw new Error('the answer is lost')
    return { now, grants }
  }
  return store
}

function process(store: ReturnType<typeof slowStore>, concurrency: number) {
  const handler = { source: 'shop', pattern: '*', options: { limit: { concurrency } }, meanMs: 1 } as never
  const limits = new Limits({
    store: store as never,
    log: silentLog,
    counters: new Counters(),
    places: { size: 4, active: 0 },
    worker: 'w',
    leaseMs: 30_000,
    wake: () => {},
  })
  const event = { source: 'shop', id: 'a', reference: null } as unknown as ClaimedEvent
  return {
    limits,
    handler,
    event,
    wait: (count: number) =>
      limits.plan(count === 0 ? [] : ([[handler, new Array(count).fill(event)]] as never)),
    mayBegin: () => limits.first(handler, [event]) === 0,
  }
}

async function after(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

/** It has a slot, has used it, and has asked to give it back. The store has done so, and has not answered. */
async function givingBack(one: ReturnType<typeof process>): Promise<void> {
  one.wait(1)
  await after(ANSWER_MS)
  expect(one.mayBegin()).toBe(true)
  one.wait(0)
  await after(60)
  one.wait(0)
}

test('a slot that is being given back is not used', async () => {
  const store = slowStore()
  const [one, other] = [process(store, 1), process(store, 1)]
  await givingBack(one)
  expect(store.requests.at(-1)).toMatchObject({ slots: { wanted: 0 } })
  expect(one.mayBegin()).toBe(false)
  other.wait(1)
  await after(ANSWER_MS)
  expect([one.mayBegin(), other.mayBegin()]).toEqual([false, true])
})

test('a slot is not used after the answer of its return was lost', async () => {
  const store = slowStore()
  const one = process(store, 1)
  await givingBack(one)
  store.isLost = true
  await after(ANSWER_MS)
  expect(one.mayBegin()).toBe(false)
})

test('slots are not asked for while others are being given back', async () => {
  const store = slowStore()
  const one = process(store, 1)
  one.wait(1)
  await after(ANSWER_MS)
  const back = one.limits.giveBack()
  await after(1)
  const asked = store.requests.length
  one.wait(1)
  await after(ANSWER_MS / 2)
  expect(store.requests.length).toBe(asked)
  await after(ANSWER_MS)
  await back
  one.wait(1)
  await after(ANSWER_MS)
  expect(one.mayBegin()).toBe(true)
})

test('a pause that began while the process stopped is told to the store', async () => {
  const store = slowStore()
  const one = process(store, 1)
  one.limits.pause(one.handler, one.event, 600_000)
  const back = one.limits.giveBack()
  await after(ANSWER_MS)
  await back
  expect(store.requests.at(-1)).toMatchObject({ pauseMs: 600_000 })
})

test('a clock of the store that was set is believed at once, however long the answer took', () => {
  for (const stepMs of [3_600_000, -3_600_000]) {
    const time = new StoreTime()
    time.heard(1_000, 1_010, 501_005)
    expect(time.local(501_005)).toBe(1_005)
    time.heard(2_000, 2_100, 502_010)
    expect(time.local(501_005)).toBe(1_005) // a longer round trip says less
    time.heard(3_000, 3_100, 503_050 + stepMs)
    expect(time.local(503_050 + stepMs)).toBe(3_050)
  }
})
