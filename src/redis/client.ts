/**
 * node-redis (`redis`) and ioredis, told apart by their methods, each with one server or a cluster. Every command has one
 * key: none crosses the slots of a cluster.
 */
import { invalid } from '../errors.js'

export interface NodeRedis {
  get(key: string): Promise<unknown>
  set(key: string, value: string, options: { PX: number }): Promise<unknown>
  del(key: string): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

export interface IoRedis {
  get(key: string): Promise<unknown>
  set(key: string, value: string, how: 'PX', ms: number): Promise<unknown>
  del(key: string): Promise<unknown>
  eval(script: string, keys: number, key: string, ...args: string[]): Promise<unknown>
  defineCommand(name: string, definition: { lua: string }): void
}

export type RedisClient = NodeRedis | IoRedis

export interface Commands {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlMs: number): Promise<void>
  del(key: string): Promise<void>
  run(script: string, key: string, args: readonly string[]): Promise<unknown>
}

export function commandsOf(client: RedisClient): Commands {
  for (const verb of ['get', 'set', 'del', 'eval'] as const) {
    if (typeof client?.[verb] !== 'function')
      throw invalid('The Redis client', 'must be a connected client of the package redis or ioredis')
  }
  const io = isIoRedis(client) ? client : null
  const node = client as NodeRedis
  return {
    get: async (key) => asText(await client.get(key)),
    async set(key, value, ttlMs) {
      await (io ? io.set(key, value, 'PX', ttlMs) : node.set(key, value, { PX: ttlMs }))
    },
    async del(key) {
      await client.del(key)
    },
    run: async (script, key, args) =>
      io ? io.eval(script, 1, key, ...args) : node.eval(script, { keys: [key], arguments: [...args] }),
  }
}

function isIoRedis(client: RedisClient): client is IoRedis {
  return typeof (client as Partial<IoRedis>).defineCommand === 'function'
}

function asText(value: unknown): string | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  return typeof value === 'string' ? value : null
}
