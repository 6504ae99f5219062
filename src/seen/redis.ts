/**
 * `seen` in Redis, shared by all processes: `seen: redis(client)`. Every call has a time limit, and after a few
 * failures Redis is left alone for a while, so that a slow one costs next to nothing.
 */
import { sha256 } from '../digest.js'
import { checkCount } from '../store-input.js'
import { createBreaker } from './breaker.js'
import { commandsOf, type RedisClient } from './redis-client.js'
import type { Seen, SeenEntry, SeenKey } from './seen.js'
import { seenKeyText } from './seen.js'

export type { IoRedis, NodeRedis, RedisClient } from './redis-client.js'
export { type RedisOnce, type RedisOnceOptions, redisOnce } from './redis-once.js'
export type { Seen, SeenEntry, SeenKey } from './seen.js'

export interface RedisSeenOptions {
  /** What its keys begin with. Default `hookonce:seen:`. */
  readonly prefix?: string
  /** How long an answer may take; then the log is asked. Default 50. */
  readonly timeLimitMs?: number
}

const FAILURES = 3
const PAUSE_MS = 1_000

export function redis(client: RedisClient, options: RedisSeenOptions = {}): Seen {
  const { prefix = 'hookonce:seen:', timeLimitMs = 50 } = options
  checkCount('timeLimitMs', timeLimitMs, 60_000)
  const commands = commandsOf(client)
  const breaker = createBreaker({ timeLimitMs, failures: FAILURES, pauseMs: PAUSE_MS })

  /** A digest: ids of any length and any characters, no id in clear, and nothing a cluster takes for a hash tag. */
  const keyOf = (key: SeenKey) =>
    `${prefix}${Buffer.from(sha256(Buffer.from(seenKeyText(key)))).toString('base64url')}`

  return {
    name: 'redis',
    async get(keys) {
      // Single commands, sent together: a client puts them on the wire as one write.
      const values = await breaker.run(() => Promise.all(keys.map((key) => commands.get(keyOf(key)))))
      return keys.map((_, i) => decode(values?.[i] ?? null))
    },
    async put(entries) {
      await breaker.run(() =>
        Promise.all(
          entries.map(({ key, entry }) => {
            const ttlMs = entry ? Math.floor(entry.expiresAt - entry.confirmedAt) : 0
            return entry && ttlMs > 0
              ? commands.set(keyOf(key), encode(entry), ttlMs)
              : commands.del(keyOf(key))
          }),
        ),
      )
    },
  }
}

const FORM = 1
const states = ['pending', 'succeeded', 'ignored'] as const

function encode({ seq, hash, state, confirmedAt, expiresAt }: SeenEntry): string {
  const written = Buffer.from(hash).toString('base64')
  return JSON.stringify([FORM, seq, written, states.indexOf(state), confirmedAt, expiresAt])
}

/** What is not ours, or not whole, is not there. */
function decode(text: string | null): SeenEntry | null {
  if (text === null) return null
  try {
    const [form, seq, written, at, confirmedAt, expiresAt] = JSON.parse(text)
    const hash = Buffer.from(String(written), 'base64')
    const state = states[at as number]
    const whole = [seq, confirmedAt, expiresAt].every((value) => Number.isFinite(value))
    if (form !== FORM || !whole || hash.byteLength !== 32 || state === undefined) return null
    return { seq, hash, state, confirmedAt, expiresAt }
  } catch {
    return null
  }
}
