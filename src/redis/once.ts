/**
 * `once(key, fn)` on Redis alone, without a log. The first caller runs `fn`; other callers wait for its result.
 * docs/redis.md says which guarantees of the log it does not have.
 *
 * A key that a caller has taken has the value `h` and the token; a finished key has `r` and the result. The expiry of
 * Redis is the lease, and later the lifetime of the result.
 */
import { randomUUID } from 'node:crypto'
import { HookonceError, invalid } from '../errors.js'
import { limits } from '../model.js'
import { insistOnKept, keptResult, keptText } from '../once-result.js'
import { checkCount } from '../store-input.js'
import { type Commands, commandsOf, type RedisClient } from './client.js'

export interface RedisOnceOptions {
  /** How long a key is taken; extended while `fn` runs. If its process dies, another caller takes over then. Default 30,000. */
  readonly leaseMs?: number
  /** How long the result is stored. After that, `fn` runs again. Default 24 hours. */
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
      // A client that repeats `take` after a broken connection finds its own token: the key is taken by this call.
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
    commands.run(extend, name, [token, String(leaseMs)]).catch(() => {}) // the next beat repeats it, and `finish` checks the token
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

/** KEYS[1] the key. ARGV[1] token, ARGV[2] lease in ms. Returns false when the key was taken now, else its value. */
const take = `
local value = redis.call('get', KEYS[1])
if value then return value end
redis.call('set', KEYS[1], 'h' .. ARGV[1], 'px', ARGV[2])
return false`

/** KEYS[1] the key. ARGV[1] token, ARGV[2] lease in ms. Returns 1, or 0 when the token has expired. */
const extend = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`

/** KEYS[1] the key. ARGV[1] token, ARGV[2] result, ARGV[3] lifetime of the result in ms. Returns 1, or 0 when the token has expired. */
const finish = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
redis.call('set', KEYS[1], 'r' .. ARGV[2], 'px', ARGV[3])
return 1`

/** KEYS[1] the key. ARGV[1] token. Returns 1, or 0 when the token has expired. */
const drop = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`
