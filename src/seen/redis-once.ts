/**
 * `once(key, fn)` on Redis alone, for tracking with no log. The first caller runs `fn`, others wait for its result. What
 * it gives up against the log: docs/redis.md.
 */
import { randomUUID } from 'node:crypto'
import { HookonceError, invalid } from '../errors.js'
import { limits } from '../model.js'
import { insistOnKept, keptResult, keptText } from '../once-result.js'
import { checkCount } from '../store-input.js'
import { type Commands, commandsOf, type RedisClient } from './redis-client.js'
import { drop, extend, finish, take } from './redis-scripts.js'

export interface RedisOnceOptions {
  /** How long a holder may be silent before another takes over; extended while `fn` runs. Default 30,000. */
  readonly leaseMs?: number
  /** How long the result is kept, and with it the knowledge that it was done. Default 24 hours. */
  readonly ttlMs?: number
  /** How long to wait for another caller. Default 30,000. */
  readonly waitMs?: number
}

export type RedisOnce = <T>(key: string, fn: () => T | Promise<T>, options?: RedisOnceOptions) => Promise<T>

const LOOK_EVERY_MS = 50
const DAY_MS = 24 * 60 * 60 * 1_000
const YEAR_MS = 366 * DAY_MS

export function redisOnce(
  client: RedisClient,
  { prefix = 'hookonce:once:', ...defaults }: RedisOnceOptions & { readonly prefix?: string } = {},
): RedisOnce {
  const commands = commandsOf(client)

  return async (key, fn, options = {}) => {
    const { leaseMs = 30_000, ttlMs = DAY_MS, waitMs = 30_000 } = { ...defaults, ...options }
    if (typeof key !== 'string' || key === '') throw invalid('once(key): `key`', 'must be a non-empty string')
    checkCount('leaseMs', leaseMs, DAY_MS)
    checkCount('ttlMs', ttlMs, YEAR_MS)
    const name = `${prefix}${key}`
    const token = randomUUID()
    const until = performance.now() + waitMs
    for (;;) {
      const found = await commands.run(take, name, [token, String(leaseMs)])
      // A take that was sent again after a broken connection finds its own token: it is ours all the same.
      if (found === null || found === `h${token}`) return run(commands, name, key, token, fn, leaseMs, ttlMs)
      const text = String(found)
      if (text.startsWith('r')) return keptResult(named(key), text.slice(1)) as never
      if (performance.now() > until) throw new HookonceError('KEY_BUSY', { key, waitMs })
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
}

async function run<T>(
  commands: Commands,
  name: string,
  key: string,
  token: string,
  fn: () => T | Promise<T>,
  leaseMs: number,
  ttlMs: number,
): Promise<T> {
  const beat = setInterval(() => {
    commands.run(extend, name, [token, String(leaseMs)]).catch(() => {}) // the next beat, or the fence at the end
  }, leaseMs / 3)
  try {
    let result: T
    try {
      result = await fn()
    } catch (error) {
      await commands.run(drop, name, [token]).catch(() => {})
      throw error
    }
    const text = keptText(result, limits.bodyBytes)
    const kept = await commands.run(finish, name, [token, text, String(ttlMs)])
    if (Number(kept) !== 1) throw new HookonceError('KEY_LOST', { key })
    insistOnKept(named(key), text)
    return result
  } finally {
    clearInterval(beat)
  }
}

function named(key: string): string {
  return `work of once("${key}")`
}
