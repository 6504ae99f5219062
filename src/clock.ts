/** Clocks and time limits. Leases use the clock of the store instead. */
import { MAX_TIMER_MS } from './options.js'

export interface Clock {
  /** Milliseconds since 1970. The host may set it back. */
  now(): number
  /** Milliseconds of a monotonic clock. Left out: time passes only when `now` does. */
  steady?(): number
}

export const systemClock: Clock = { now: () => Date.now(), steady: () => performance.now() }

export interface ForwardClock extends Clock {
  /** Another process has written this instant: the clock is not earlier from now on. */
  atLeast(instant: number): void
}

/** A clock that is ahead of its host runs at this speed: it loses an hour in ten hours. */
const CATCH_UP = 0.9

/**
 * Follows the clock of the host, but never runs backwards and never stands still. When the host sets its clock back, time
 * goes on from the latest instant by the monotonic clock, a little slower, until the host has caught up. So a due event
 * stays due, and a delay that was written just before does not get longer.
 */
export function forwardClock(host: Clock): ForwardClock {
  let latest = Number.NEGATIVE_INFINITY
  let latestSteady = 0

  function advance(instant: number): void {
    const steady = host.steady?.() ?? 0
    const passed = Math.max(0, steady - latestSteady) * CATCH_UP
    latest = Math.max(instant, latest + passed)
    latestSteady = steady
  }

  return {
    now() {
      advance(host.now())
      return Math.trunc(latest)
    },
    atLeast: advance,
  }
}

const LATE = Symbol('late')

/** Returns `fallback` when `work` takes longer than `limitMs`. A later result is discarded. */
export async function valueWithin<T, Fallback>(
  work: Promise<T>,
  limitMs: number,
  fallback: Fallback,
): Promise<T | Fallback> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Fallback>((resolve) => {
    // A busy event loop runs timers before it reads sockets. With setImmediate, a result that has arrived still counts.
    timer = setTimeout(() => setImmediate(resolve, fallback), limitMs)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export async function timeLimited<T>(work: Promise<T>, limitMs: number, lateError: () => Error): Promise<T> {
  const value = await valueWithin<T, typeof LATE>(work, limitMs, LATE)
  if (value === LATE) throw lateError()
  return value
}

/** Ignores the result and the error of `work`. */
export async function atMost(limitMs: number, work: Promise<unknown> | null | undefined): Promise<void> {
  if (work) await valueWithin(work, limitMs, null).catch(() => {})
}

/** Returns the milliseconds that are left of `limitMs`, at least 1. */
export function countDown(limitMs: number): () => number {
  const until = performance.now() + limitMs
  return () => Math.max(1, until - performance.now())
}

export interface TimeLimits<Item> {
  /** `expired` is called with the item after the time limit, unless `clear` is called first. */
  set(item: Item): void
  clear(item: Item): void
}

/**
 * One timer for the time limits of many items: a timer for each delivery showed in the profile of a busy intake. Items
 * expire in the order in which they were set.
 */
export function timeLimits<Item>(ms: number, expired: (item: Item) => void): TimeLimits<Item> {
  const limits = new Map<Item, number>()
  let timer: NodeJS.Timeout | null = null

  function sweep(): void {
    timer = null
    for (const [item, until] of limits) {
      const left = until - performance.now()
      if (left > 0) {
        timer = setTimeout(sweep, Math.min(left, MAX_TIMER_MS))
        return
      }
      limits.delete(item)
      expired(item)
    }
  }

  return {
    set(item) {
      limits.set(item, performance.now() + ms)
      timer ??= setTimeout(sweep, Math.min(ms, MAX_TIMER_MS))
      if (limits.size === 1) timer.ref()
    },
    clear(item) {
      // The timer stays, for the next item. Alone it must not keep the process alive.
      if (limits.delete(item) && limits.size === 0) timer?.unref()
    },
  }
}
