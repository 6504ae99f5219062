/**
 * Virtual time: timers and clocks that only `run` moves. Timers that are due at the same instant run in an order that the
 * seed decides. Between two timers all promises that can continue do so.
 *
 * Only code that is called within `inside` sees it. Something that an earlier test file left behind in this process may
 * run at any moment, and would use up random numbers of the seed.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

const simulated = new AsyncLocalStorage<true>()
const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate }
const realNow = performance.now.bind(performance)
const realDate = Date.now
const realRandom = Math.random

interface Timer {
  readonly id: number
  at: number
  readonly every: number | null
  readonly call: () => void
}

export interface VirtualTime {
  /** Milliseconds since the beginning. */
  readonly now: number
  /** Runs timers until `isOver`, or until `limitMs` of virtual time are over. False = the limit was reached. */
  run(isOver: () => boolean, limitMs: number): Promise<boolean>
  /** Calls `work` in virtual time, with all that it starts. */
  inside<T>(work: () => T): T
  /** Gives the process its own timers and clocks back. */
  end(): void
}

/** A small generator of random numbers (mulberry32), so that a seed replays exactly. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 2026-01-01; any instant would do. */
const START = 1_767_225_600_000

export function virtualTime(random: () => number): VirtualTime {
  let now = 0
  let lastId = 0
  const timers = new Map<number, Timer>()

  function add(call: () => void, ms: number, every: number | null): Handle {
    const id = ++lastId
    timers.set(id, { id, at: now + Math.max(0, Number(ms) || 0), every, call })
    return new Handle(id)
  }
  const remove = (handle: unknown) => void timers.delete(handle instanceof Handle ? handle.id : -1)
  type Callback = (...args: unknown[]) => void
  const replaced: typeof real = {
    setTimeout: either(real.setTimeout, (call: Callback, ms = 0, ...args: unknown[]) =>
      add(() => call(...args), ms, null),
    ),
    setInterval: either(real.setInterval, (call: Callback, ms = 0, ...args: unknown[]) =>
      add(() => call(...args), ms, Math.max(1, ms)),
    ),
    setImmediate: either(real.setImmediate, (call: Callback, ...args: unknown[]) =>
      add(() => call(...args), 0, null),
    ),
    clearTimeout: either(real.clearTimeout, remove),
    clearInterval: either(real.clearInterval, remove),
    clearImmediate: either(real.clearImmediate, remove),
  }
  Object.assign(globalThis, replaced)
  performance.now = either(realNow, () => now)
  Date.now = either(realDate, () => START + Math.floor(now))
  Math.random = either(realRandom, random)

  function next(): Timer | null {
    let first: Timer[] = []
    for (const timer of timers.values()) {
      const at = first[0]?.at ?? Number.POSITIVE_INFINITY
      if (timer.at < at) first = [timer]
      else if (timer.at === at) first.push(timer)
    }
    return first[Math.floor(random() * first.length)] ?? null
  }

  return {
    get now() {
      return now
    },
    inside: (work) => simulated.run(true, work),
    async run(isOver, limitMs) {
      const until = now + limitMs
      for (;;) {
        await new Promise((resolve) => real.setImmediate(resolve))
        if (isOver()) return true
        const timer = next()
        if (timer === null || timer.at > until) return false
        now = Math.max(now, timer.at)
        if (timer.every === null) timers.delete(timer.id)
        else timer.at = now + timer.every
        timer.call()
      }
    },
    end() {
      Object.assign(globalThis, real)
      performance.now = realNow
      Date.now = realDate
      Math.random = realRandom
    },
  }
}

function either<F>(original: F, virtual: (...args: never[]) => unknown): F {
  type Call = (...args: unknown[]) => unknown
  const [outside, inside] = [original as Call, virtual as Call]
  return ((...args: unknown[]) => (simulated.getStore() ? inside(...args) : outside(...args))) as F
}

/** As a Timeout of Node, as far as hookonce uses it. */
class Handle {
  readonly id: number
  constructor(id: number) {
    this.id = id
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}
