/** `once(key, fn)` on Redis alone. */
import { HookonceError } from 'hookonce'
import { redisOnce } from 'hookonce/redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signal, until } from '../support/processing.js'
import { clients, startRedis, type TestClient, type TestRedis } from '../support/redis.js'

let server: TestRedis
let client: TestClient
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.remove())

describe.each(Object.entries(clients))('%s', (_, connect) => {
  beforeEach(async () => {
    client = await connect(server.url)
    await client.flush()
  })
  afterEach(() => client.close())

  test('of many callers at once one runs it, and all get its result', async () => {
    const once = redisOnce(client.client)
    let runs = 0
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        once('charge', async () => {
          runs++
          await new Promise((resolve) => setTimeout(resolve, 20))
          return { id: 7 }
        }),
      ),
    )
    expect(runs).toBe(1)
    expect(results).toEqual(Array.from({ length: 20 }, () => ({ id: 7 })))
    expect(await once('charge', () => ({ id: 8 }))).toEqual({ id: 7 })
  })

  test('a failure gives the key back, and the next caller runs it again', async () => {
    const once = redisOnce(client.client)
    await expect(
      once('k', () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await once('k', () => 'second')).toBe('second')
  })

  test('work whose result cannot be kept runs once, and every caller is told', async () => {
    const once = redisOnce(client.client)
    let calls = 0
    for (let i = 0; i < 3; i++) {
      await expect(once('k', () => ++calls && { id: 7n })).rejects.toMatchObject({
        code: 'RESULT_NOT_KEPT',
        message: expect.stringMatching(
          /once\("k"\) has run and will not run again.*cannot be written as JSON/,
        ),
      })
    }
    expect(calls).toBe(1)
  })

  test('a holder that dies is followed when its lease is over', async () => {
    const once = redisOnce(client.client)
    const held = signal()
    // Its heartbeats do not get through, as if its process were gone.
    const deaf = { ...bound(client.client), eval: blockExtend(client.client) } as never
    const first = redisOnce(deaf)('k', () => held.wait, { lease: 1_000 })
    await until(async () => (await value('hookonce:once:k')) !== null, 'it is held')
    expect(await once('k', () => 'second')).toBe('second')
    held.give()
    // What it did may have happened; its result is not kept over the other's.
    await expect(first).rejects.toMatchObject({ code: 'KEY_LOST' })
    expect(await once('k', () => 'third')).toBe('second')
  })

  test('a holder that lives has its lease extended', async () => {
    const once = redisOnce(client.client)
    const leaseMs = 3_000
    let left = leaseMs
    // Time left only ever gets less by itself.
    const extended = async () => {
      const before = left
      left = await timeLeft('hookonce:once:k')
      return left > before
    }
    const result = await once('k', () => until(extended, 'the lease is extended').then(() => 'done'), {
      lease: leaseMs,
    })
    expect(result).toBe('done')
  })

  test('who waits too long is told that somebody has it', async () => {
    const once = redisOnce(client.client)
    const held = signal()
    const first = once('k', () => held.wait)
    await until(async () => (await value('hookonce:once:k')) !== null, 'it is held')
    await expect(once('k', () => 1, { wait: 60 })).rejects.toBeInstanceOf(HookonceError)
    held.give()
    await first
  })

  test('after its time to live it is forgotten, and runs again: the price of having no log', async () => {
    const once = redisOnce(client.client, { ttl: 50 })
    expect(await once('k', () => 1)).toBe(1)
    await until(async () => (await value('hookonce:once:k')) === null, 'forgotten')
    expect(await once('k', () => 2)).toBe(2)
  })

  test('what is no client, no key or no time is refused', async () => {
    expect(() => redisOnce({} as never)).toThrow('Redis client')
    const once = redisOnce(client.client)
    await expect(once('', () => 1)).rejects.toThrow('key')
    await expect(once('k', () => 1, { lease: 0 })).rejects.toThrow('lease must be a duration')
  })
})

function value(key: string): Promise<unknown> {
  return client.client.get(key)
}

async function timeLeft(key: string): Promise<number> {
  const one = client.client as unknown as Record<'pttl' | 'pTTL', (key: string) => Promise<number>>
  return typeof one.pttl === 'function' ? one.pttl(key) : one.pTTL(key)
}

function bound(given: TestClient['client']) {
  const one = given as unknown as Record<string, (...args: unknown[]) => unknown>
  const verbs = ['get', 'set', 'del', ...(typeof one.defineCommand === 'function' ? ['defineCommand'] : [])]
  return Object.fromEntries(verbs.map((verb) => [verb, one[verb]!.bind(one)]))
}

function blockExtend(given: TestClient['client']) {
  const one = given as unknown as { eval(script: string, ...args: unknown[]): Promise<unknown> }
  return (script: string, ...args: unknown[]) =>
    script.includes('pexpire') ? Promise.resolve(1) : one.eval(script, ...args)
}
