/** `hookonce/redis`: the cache `seen` in Redis, and `once` on Redis without a log. */
export type { Seen, SeenEntry, SeenKey } from '../seen/seen.js'
export type { IoRedis, NodeRedis, RedisClient } from './client.js'
export { type RedisOnce, type RedisOnceOptions, redisOnce } from './once.js'
export { type RedisSeenOptions, redis } from './seen.js'
