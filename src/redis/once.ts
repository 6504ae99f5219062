/**
 * `once(key, fn)` on Redis alone, without a log. The first caller runs `fn`; other callers wait for its result.
 * docs/redis.md says which guarantees of the log it does not have.
 *
 * A taken key has the value `h` and the token; a finished key has `r` and the result. The expiry of Redis is the lease, and
 * later the lifetime of the result.
 */
import { randomUUID } from 'node:crypto'
import type { Duration } from '../duration.js'
import { invalid } from '../errors.js'
import { limits } from '../model.js'
import { type OnceKeyOptions, onceKey, onceRules } from '../once.js'
import { anyText, checkOptions, shape } from '../options.js'
import type { KeyState, KeyStep } from '../store.js'
import { type Commands, commandsOf, type RedisClient } from './client.js'

export interface RedisOnceOptions extends OnceKeyOptions {
  /** How long the result is stored. After that, `fn` runs again. Default `'24h'`. */
  readonly ttl?: Duration
}

export type RedisOnce = <T>(key: string, fn: () => T | Promise<T>, options?: RedisOnceOptions) => Promise<T>

const redisOnceRule = shape({ prefix: anyText, ...onceRules })

export function redisOnce(
  client: RedisClient,
  { prefix = 'hookonce:once:', ...defaults }: RedisOnceOptions & { readonly prefix?: string } = {},
): RedisOnce {
  checkOptions('redisOnce(client, options)', { prefix, ...defaults }, redisOnceRule)
  const commands = commandsOf(client)

  async function key(step: KeyStep): Promise<KeyState> {
    const name = `${prefix}${step.key}`
    if (step.step === 'take') return takeName(commands, name, step.leaseMs)
    const { token } = step
    if (step.step === 'extend') return fenced(await commands.run(extend, name, [token, String(step.leaseMs)]))
    if (step.step === 'drop') return fenced(await commands.run(drop, name, [token]))
    return fenced(await commands.run(finish, name, [token, step.result, String(step.ttlMs)]))
  }

  return async (name, fn, options = {}) => {
    if (typeof name !== 'string' || name === '')
      throw invalid('once(key): `key`', 'must be a non-empty string')
    return onceKey({ key }, name, fn, { ttl: '24h', ...defaults, ...options }, limits.bodyBytes)
  }
}

async function takeName(commands: Commands, name: string, leaseMs: number): Promise<KeyState> {
  const token = randomUUID()
  const found = await commands.run(take, name, [token, String(leaseMs)])
  // The client sends a command again after a broken connection; the second one then finds the token of the first.
  if (found === null || found === `h${token}`) return { state: 'taken', token }
  const text = String(found)
  return text.startsWith('r') ? { state: 'finished', result: text.slice(1) } : { state: 'busy' }
}

function fenced(answer: unknown): KeyState {
  return { state: Number(answer) === 1 ? 'ok' : 'fenced' }
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
