/**
 * `once(key, fn)`: the first caller takes the key and runs `fn`, the others wait for the result. A heartbeat extends the
 * lease of the key; when the process dies, the lease expires and the next caller runs `fn` again.
 */
import { type Duration, msOf } from './duration.js'
import { HookonceError } from './errors.js'
import { limits } from './model.js'
import { checkOptions, duration, MAX_TIMER_MS, type Rule, shape } from './options.js'
import type { KeyState, Keys } from './store.js'

export type KeySteps = Pick<Keys, 'key'>

export interface OnceKeyOptions {
  /** Time without a heartbeat after which another caller takes over. Default `'30s'`. */
  readonly lease?: Duration
  /** How long the result is stored. Default: without end. */
  readonly ttl?: Duration
  /** How long to wait for another caller. Default `'30s'`. */
  readonly wait?: Duration
}

export const onceRules = {
  lease: duration(1, limits.leaseMs),
  ttl: duration(1, 10 * limits.delayMs),
  wait: duration(0, MAX_TIMER_MS),
} satisfies Record<keyof OnceKeyOptions, Rule>

const onceRule = shape(onceRules)

const POLL_MS = 50

export async function onceKey<T>(
  keys: KeySteps,
  key: string,
  fn: () => T | Promise<T>,
  options: OnceKeyOptions = {},
  maxResultBytes: number = limits.effectResultBytes,
): Promise<T> {
  checkOptions('once(key, fn, options)', options, onceRule)
  const leaseMs = msOf(options.lease, '30s')
  const waitMs = msOf(options.wait, '30s')
  const ttlMs = options.ttl === undefined ? null : msOf(options.ttl, 0)
  const work = `work of once("${key}")`
  const until = performance.now() + waitMs
  for (;;) {
    const taken = await takeKey(keys, key, leaseMs)
    if (taken.state === 'finished') return storedResult(work, taken.result) as T
    if (taken.state === 'leased') {
      const result = await runOrDrop(taken.lease, fn)
      const text = resultText(result, maxResultBytes)
      await taken.lease.finish(text, ttlMs)
      checkStored(work, text)
      return result
    }
    if (performance.now() > until) throw new HookonceError('KEY_BUSY', { key, waitMs })
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** A key that this process has taken. A heartbeat extends it until it is finished or dropped. */
export interface KeyLease {
  /** Throws KEY_LOST when another caller may have the key. */
  extend(): Promise<void>
  /** Stores the result for `ttlMs`; null = without end. Throws KEY_LOST when another caller may have the key. */
  finish(result: string, ttlMs: number | null): Promise<void>
  /** Gives the key back without a result. Never throws: the lease expires if the key cannot be dropped. */
  drop(): Promise<void>
}

export type Taken =
  | { readonly state: 'leased'; readonly lease: KeyLease }
  | { readonly state: 'finished'; readonly result: string }
  | { readonly state: 'busy' }

export async function takeKey(keys: KeySteps, key: string, leaseMs: number): Promise<Taken> {
  const answer = await keys.key({ step: 'take', key, leaseMs })
  if (answer.state === 'finished') return answer
  if (answer.state !== 'taken') return { state: 'busy' }
  const { token } = answer
  const extend = () => keys.key({ step: 'extend', key, token, leaseMs })
  const heartbeat = setInterval(() => {
    extend().catch(() => {}) // the next heartbeat tries again; `extend` and `finish` notice a lost lease
  }, leaseMs / 3)
  heartbeat.unref()
  const lease: KeyLease = {
    async extend() {
      insistOnLease(key, await extend())
    },
    async finish(result, ttlMs) {
      try {
        insistOnLease(key, await keys.key({ step: 'finish', key, token, result, ttlMs }))
      } finally {
        clearInterval(heartbeat)
      }
    },
    async drop() {
      clearInterval(heartbeat)
      await keys.key({ step: 'drop', key, token }).catch(() => {})
    },
  }
  return { state: 'leased', lease }
}

/** Work that throws has failed for certain, so the next caller may run it at once. */
export async function runOrDrop<T>(lease: KeyLease, fn: () => T | Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    await lease.drop()
    throw error
  }
}

/**
 * `done`: the work was done now. `known`: a process of the log has done it in the last `forMs`. `busy`: one is doing it, and
 * may fail.
 */
export async function onceInLog(
  keys: KeySteps,
  key: string,
  forMs: number,
  work: () => unknown,
): Promise<'done' | 'known' | 'busy'> {
  const taken = await takeKey(keys, key, 30_000)
  if (taken.state !== 'leased') return taken.state === 'finished' ? 'known' : 'busy'
  await runOrDrop(taken.lease, work)
  await taken.lease.finish('', forMs)
  return 'done'
}

function insistOnLease(key: string, { state }: KeyState): void {
  if (state === 'fenced') throw new HookonceError('KEY_LOST', { key })
}

/** No JSON text begins with it. */
const NOT_STORED = '!'

/** Never throws: work that has run must not run again because its result cannot be stored. The text then says why. */
export function resultText(result: unknown, maxBytes: number): string {
  let text: string | undefined
  try {
    text = JSON.stringify(result ?? null)
  } catch {
    // A BigInt, a cycle, a toJSON that throws, or more text than a string can hold.
  }
  if (typeof text !== 'string') return `${NOT_STORED}it cannot be written as JSON`
  const bytes = Buffer.byteLength(text)
  return bytes <= maxBytes ? text : `${NOT_STORED}it has ${bytes} bytes as JSON, and ${maxBytes} can be kept`
}

export function storedResult(work: string, text: string): unknown {
  checkStored(work, text)
  return JSON.parse(text)
}

export function checkStored(work: string, text: string): void {
  if (text.startsWith(NOT_STORED))
    throw new HookonceError('RESULT_NOT_KEPT', { what: work, problem: text.slice(NOT_STORED.length) })
}
