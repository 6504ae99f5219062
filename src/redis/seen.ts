/**
 * `seen` in Redis, shared by all processes. Every call has a time limit, and a few failures in a row stop all calls for a
 * while: a slow Redis must not slow intake down.
 */
import { timeLimited } from '../clock.js'
import { sha256 } from '../digest.js'
import { type Duration, msOf } from '../duration.js'
import { anyText, checkOptions, duration, type Rule, shape } from '../options.js'
import { type Seen, type SeenEntry, type SeenKey, seenKeyText } from '../seen/seen.js'
import { commandsOf, type RedisClient } from './client.js'

export interface RedisSeenOptions {
  /** The prefix of its keys. Default `hookonce:seen:`. */
  readonly prefix?: string
  /** Time limit of a call; after it the log is asked. Default 50 ms. */
  readonly timeLimit?: Duration
}

const redisSeenRule = shape({ prefix: anyText, timeLimit: duration(1, 60_000) } satisfies Record<
  keyof RedisSeenOptions,
  Rule
>)

const FAILURES = 3
const PAUSE_MS = 1_000

export function redis(client: RedisClient, options: RedisSeenOptions = {}): Seen {
  checkOptions('redis()', options, redisSeenRule)
  const { prefix = 'hookonce:seen:' } = options
  const commands = commandsOf(client)
  const breaker = new Breaker(msOf(options.timeLimit, 50))

  /** A digest: ids of any length and characters fit, nobody can read them, and they contain no hash tag of a cluster. */
  const redisKey = (key: SeenKey) =>
    `${prefix}${Buffer.from(sha256(Buffer.from(seenKeyText(key)))).toString('base64url')}`

  return {
    name: 'redis',
    async get(keys) {
      // One command per key, sent at once: a client pipelines them in one write.
      const values = await breaker.run(() => Promise.all(keys.map((key) => commands.get(redisKey(key)))))
      return keys.map((_, i) => decode(values?.[i] ?? null))
    },
    async put(entries) {
      await breaker.run(() =>
        Promise.all(
          entries.map(({ key, entry }) => {
            const ttlMs = entry ? Math.floor(entry.expiresAt - entry.confirmedAt) : 0
            return entry && ttlMs > 0
              ? commands.set(redisKey(key), encode(entry), ttlMs)
              : commands.del(redisKey(key))
          }),
        ),
      )
    },
  }
}

const FORMAT = 1
const states = ['pending', 'succeeded', 'ignored'] as const

function encode({ seq, hash, state, confirmedAt, expiresAt }: SeenEntry): string {
  const written = Buffer.from(hash).toString('base64')
  return JSON.stringify([FORMAT, seq, written, states.indexOf(state), confirmedAt, expiresAt])
}

function decode(text: string | null): SeenEntry | null {
  if (text === null) return null
  try {
    const [format, seq, written, at, confirmedAt, expiresAt] = JSON.parse(text)
    const hash = Buffer.from(String(written), 'base64')
    const state = states[at as number]
    const complete = [seq, confirmedAt, expiresAt].every((value) => Number.isFinite(value))
    if (format !== FORMAT || !complete || hash.byteLength !== 32 || state === undefined) return null
    return { seq, hash, state, confirmedAt, expiresAt }
  } catch {
    return null
  }
}

/** A few failures in a row stop the calls for a while; then one is made as a test. */
class Breaker {
  readonly #timeLimitMs: number
  #failuresInARow = 0
  #retryAt = 0

  constructor(timeLimitMs: number) {
    this.#timeLimitMs = timeLimitMs
  }

  /** Null, without a call, while it is open. Rejects when the call rejects or takes too long. */
  async run<T>(call: () => Promise<T>): Promise<T | null> {
    if (this.#failuresInARow >= FAILURES) {
      if (performance.now() < this.#retryAt) return null
      this.#retryAt = performance.now() + PAUSE_MS
    }
    try {
      const late = () => new Error(`no answer within ${this.#timeLimitMs} ms`)
      const value = await timeLimited(call(), this.#timeLimitMs, late)
      this.#failuresInARow = 0
      return value
    } catch (error) {
      this.#failuresInARow++
      this.#retryAt = performance.now() + PAUSE_MS
      throw error
    }
  }
}
