/**
 * `once(key, fn)` with no event around it: a resource-level idempotency key, kept in the store. The first caller runs
 * `fn`; others wait for its result. If the holder dies, the next caller runs it again.
 */
import { HookonceError } from '../errors.js'
import { limits } from '../model.js'
import { insistOnKept, keptResult, keptText } from '../once-result.js'
import type { Store } from '../store.js'

export interface OnceKeyOptions {
  /** How long a holder may be silent before another takes over; extended while `fn` runs. Default 30,000. */
  readonly leaseMs?: number
  /** How long the result is kept; left out = for good. */
  readonly ttlMs?: number
  /** How long to wait for another caller. Default 30,000. */
  readonly waitMs?: number
}

const LOOK_EVERY_MS = 50

export async function onceKey<T>(
  store: Store,
  key: string,
  fn: () => T | Promise<T>,
  options: OnceKeyOptions = {},
): Promise<T> {
  const { leaseMs = 30_000, ttlMs = null, waitMs = 30_000 } = options
  const until = performance.now() + waitMs
  for (;;) {
    const state = await store.key({ step: 'take', key, leaseMs })
    if (state.state === 'finished') return keptResult(named(key), state.result) as T
    if (state.state === 'taken') return run(store, key, state.token, fn, leaseMs, ttlMs)
    if (performance.now() > until) throw new HookonceError('KEY_BUSY', { key, waitMs })
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

async function run<T>(
  store: Store,
  key: string,
  token: string,
  fn: () => T | Promise<T>,
  leaseMs: number,
  ttlMs: number | null,
): Promise<T> {
  const beat = setInterval(() => {
    store.key({ step: 'extend', key, token, leaseMs }).catch(() => {}) // the next beat, or the fence at the end
  }, leaseMs / 3)
  try {
    let result: T
    try {
      result = await fn()
    } catch (error) {
      await store.key({ step: 'drop', key, token }).catch(() => {})
      throw error
    }
    // From here on it has happened: the key is not given back any more.
    const text = keptText(result, limits.effectResultBytes)
    const kept = await store.key({ step: 'finish', key, token, result: text, ttlMs })
    if (kept.state === 'fenced') throw new HookonceError('KEY_LOST', { key })
    insistOnKept(named(key), text)
    return result
  } finally {
    clearInterval(beat)
  }
}

function named(key: string): string {
  return `work of once("${key}")`
}
