/**
 * The scripts of `redisOnce`: each is one atomic step on one key. A key that is held has the value `h` and the token;
 * one that is finished has `r` and the result. Redis' own expiry is the lease and the age of a result.
 */

/** KEYS[1] the key. ARGV[1] token, ARGV[2] lease in ms. Answers false when it was taken, else what is there. */
export const take = `
local held = redis.call('get', KEYS[1])
if held then return held end
redis.call('set', KEYS[1], 'h' .. ARGV[1], 'px', ARGV[2])
return false`

/** KEYS[1] the key. ARGV[1] token, ARGV[2] lease in ms. Answers 1, or 0 when the token is dead. */
export const extend = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`

/** KEYS[1] the key. ARGV[1] token, ARGV[2] result, ARGV[3] age in ms. Answers 1, or 0 when the token is dead. */
export const finish = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
redis.call('set', KEYS[1], 'r' .. ARGV[2], 'px', ARGV[3])
return 1`

/** KEYS[1] the key. ARGV[1] token. Answers 1, or 0 when the token is dead. */
export const drop = `
if redis.call('get', KEYS[1]) ~= 'h' .. ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`
