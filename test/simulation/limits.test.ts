/**
 * The rate of a limit, in virtual time: four processes with the real code of processing on one log in memory. A lower bound
 * of a rate cannot be measured in real time on a busy machine; `test/processing/limits.test.ts` measures the upper one there.
 */
import { createInbox, retryAfter, type Store, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { expect, test } from 'vitest'
import type { HandlerLimit } from '#dist/processing/handler.js'
import { MemoryLog, type MemoryTx } from './memory-log.js'
import { seeded, type VirtualTime, virtualTime } from './virtual-time.js'

const PROCESSES = 4

interface Run {
  readonly seed: number
  readonly events: number
  readonly limit: HandlerLimit
  readonly references?: number
  /** The longest time that a call to the store takes, each way. */
  readonly networkMs?: number
  handle?(start: number, time: VirtualTime): Promise<void> | void
  /** Called before each call for grants; may throw. */
  onTake?(time: VirtualTime): void
}

/** The instants at which the handler was called, in virtual milliseconds, by reference. */
async function startsOf(run: Run): Promise<Map<string, number[]>> {
  const time = virtualTime(seeded(run.seed))
  try {
    return await time.inside(() => simulate(run, time))
  } finally {
    time.end()
  }
}

async function simulate(
  { events, limit, references = 1, networkMs = 4, handle, onTake }: Run,
  time: VirtualTime,
): Promise<Map<string, number[]>> {
  const log = new MemoryLog({ now: () => Date.now(), random: Math.random })
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const starts = new Map<string, number[]>()
  let begun = 0
  const slow = (store: Store<MemoryTx>): Store<MemoryTx> => {
    const late =
      <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
      async (...args: Args) => {
        await sleep(Math.random() * networkMs)
        if (call === (store.grants!.take as unknown)) onTake?.(time)
        const value = await call(...args)
        await sleep(Math.random() * networkMs)
        return value
      }
    const { claim, settle, release, extend, grants } = store
    return {
      ...store,
      ...{ claim: late(claim), settle: late(settle), release: late(release), extend: late(extend) },
      grants: { ...grants!, take: late(grants!.take) },
    }
  }
  const inboxes = Array.from({ length: PROCESSES }, () => {
    const inbox = createInbox<MemoryTx>({
      store: slow(log.open()),
      sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
      retention: false,
      tracing: false,
      log: silentLog,
      processing: { poll: 500, concurrency: 10, retry: { maxAttempts: 1_000, firstDelay: 1, maxDelay: 2 } },
    })
    inbox.on(
      'shop',
      '*',
      async (event) => {
        const own = starts.get(event.reference!) ?? []
        starts.set(event.reference!, own)
        own.push(time.now)
        await handle?.(begun++, time)
      },
      { limit },
    )
    return inbox
  })
  const deliver = (i: number) =>
    inboxes[i % PROCESSES]!.receive('shop', {
      method: 'POST',
      url: '/',
      headers: {},
      body: Buffer.from(JSON.stringify({ id: `e${i}`, type: 'a', ref: `r${i % references}` })),
    })
  const ready = Promise.all(Array.from({ length: events }, (_, i) => deliver(i))).then(() =>
    Promise.all(inboxes.map((inbox) => inbox.start())),
  )
  ready.catch(() => {})
  const isDone = () =>
    log.model.events.size === events && [...log.model.events.values()].every(({ work }) => work === null)
  expect(await time.run(isDone, 60 * 60_000)).toBe(true)
  const attempts = [...log.model.events.values()].map((event) => event.attempts.length)
  // Whoever waited for the limit has used up no attempt.
  if (!handle) expect(attempts.every((count) => count === 1)).toBe(true)
  return starts
}

/** The most starts in any second, and the starts in a second from the first to the last. */
function rateOf(starts: readonly number[]): { most: number; mean: number } {
  let most = 0
  for (let last = 0, first = 0; last < starts.length; last++) {
    while (starts[last]! - starts[first]! >= 1_000) first++
    most = Math.max(most, last - first + 1)
  }
  return { most, mean: ((starts.length - 1) * 1_000) / (starts.at(-1)! - starts[0]!) }
}

test.each([1, 2, 3, 4, 5, 6])(
  'four processes begin never more than 100 in a second, and at least 90 (seed %i)',
  async (seed) => {
    const [starts] = [...(await startsOf({ seed, events: 800, limit: { perSecond: 100 } })).values()]
    const { most, mean } = rateOf(starts!)
    expect(most).toBeLessThanOrEqual(105)
    expect(mean).toBeGreaterThanOrEqual(90)
    expect(mean).toBeLessThanOrEqual(100)
  },
)

test('a slow network does not change the rate', async () => {
  const [starts] = [
    ...(await startsOf({ seed: 7, events: 500, limit: { perSecond: 100 }, networkMs: 25 })).values(),
  ]
  expect(rateOf(starts!).most).toBeLessThanOrEqual(105)
  expect(rateOf(starts!).mean).toBeGreaterThanOrEqual(90)
})

test.each([0.5, 1, 3])('low rates hold too (%d per second)', async (perSecond) => {
  const [starts] = [...(await startsOf({ seed: 8, events: 20, limit: { perSecond } })).values()]
  const apart = starts!.slice(1).map((at, i) => at - starts![i]!)
  expect(Math.min(...apart)).toBeGreaterThanOrEqual((1_000 / perSecond) * 0.99)
  expect(rateOf(starts!).mean).toBeGreaterThanOrEqual(0.85 * perSecond)
})

test('by reference, each reference has the whole rate', async () => {
  const limit = { perSecond: 10, by: 'reference' } as const
  const starts = await startsOf({ seed: 9, events: 300, limit, references: 5 })
  expect(starts.size).toBe(5)
  for (const own of starts.values()) {
    expect(rateOf(own).most).toBeLessThanOrEqual(11)
    expect(rateOf(own).mean).toBeGreaterThanOrEqual(9)
  }
})

test('retryAfter pauses the limit in all processes for its time, and the rate is the same after that', async () => {
  let pausedAt = 0
  const run: Run = {
    seed: 10,
    events: 600,
    limit: { perSecond: 100 },
    handle(start, time) {
      if (start !== 200) return
      pausedAt = time.now
      throw retryAfter('20s')
    },
  }
  const [starts] = [...(await startsOf(run)).values()]
  // A process that has starts hears of the pause when it asks for more.
  const within = starts!.filter((at) => at > pausedAt + 1_500 && at < pausedAt + 20_000)
  expect(within).toEqual([])
  const after = starts!.filter((at) => at >= pausedAt + 20_000)
  expect(after.length).toBeGreaterThan(250)
  expect(rateOf(after).most).toBeLessThanOrEqual(105)
  expect(rateOf(after).mean).toBeGreaterThanOrEqual(75)
})

test('starts that were missed are lost, so that they are not made up for at once', async () => {
  const run: Run = {
    seed: 12,
    events: 400,
    limit: { perSecond: 100 },
    // All places are taken while each process has starts for the next moment.
    handle: (start) =>
      start >= 100 && start < 140 ? new Promise((resolve) => setTimeout(resolve, 1_000)) : undefined,
  }
  const [starts] = [...(await startsOf(run)).values()]
  expect(rateOf(starts!).most).toBeLessThanOrEqual(101)
  const within = starts!.map((at, i) => starts!.slice(i).filter((other) => other < at + 50).length)
  expect(Math.max(...within)).toBeLessThanOrEqual(10)
})

test('while the store answers no call for grants, nothing begins that it did not allow, and it is not asked in a loop', async () => {
  let asked = 0
  const isAway = ({ now }: VirtualTime) => now > 3_000 && now < 63_000
  const run: Run = {
    seed: 13,
    events: 60,
    limit: { concurrency: 2 },
    handle: () => new Promise((resolve) => setTimeout(resolve, 500)),
    onTake(time) {
      if (!isAway(time)) return
      asked++
      throw new Error('the store is away')
    },
  }
  const [starts] = [...(await startsOf(run)).values()]
  expect(starts!.filter((at) => at > 40_000 && at < 63_000)).toEqual([])
  expect(starts!.length).toBe(60)
  // Four processes, once in a second.
  expect(asked).toBeGreaterThan(20)
  expect(asked).toBeLessThan(4 * 70)
})

test('a limit of one runs one at a time in four processes, and no process starves it', async () => {
  let running = 0
  let most = 0
  const run: Run = {
    seed: 11,
    events: 200,
    limit: { concurrency: 1 },
    async handle() {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 10))
      running--
    },
  }
  const [starts] = [...(await startsOf(run)).values()]
  expect(most).toBe(1)
  // 10 ms each, and the settlement between two of them.
  expect(rateOf(starts!).mean).toBeGreaterThan(30)
})
