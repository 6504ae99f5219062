/** On a cluster of three nodes, where a command over two slots would fail. */

import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { type RedisClient, redis, redisOnce } from 'hookonce/redis'
import { sqlite } from 'hookonce/sqlite'
import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { freePort } from '../support/free-port.js'
import { until } from '../support/processing.js'
import { givenRedis, startRedis, type TestRedis } from '../support/redis.js'

const nodes: TestRedis[] = []
const SLOTS = 16_384

beforeAll(async () => {
  if (givenRedis) return
  const bus = [await freePort(), await freePort(), await freePort()]
  for (const port of bus)
    nodes.push(await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(port)]))
  const admins = nodes.map(({ url }) => new Redis(url))
  const first = new URL(nodes[0]!.url).port
  for (const [i, admin] of admins.entries()) {
    const from = Math.floor((i * SLOTS) / 3)
    await admin.call('cluster', 'addslotsrange', from, Math.floor(((i + 1) * SLOTS) / 3) - 1)
    await admin.call('cluster', 'meet', '127.0.0.1', first, bus[0]!)
  }
  const whole = async () => {
    const states = await Promise.all(admins.map((admin) => admin.call('cluster', 'info')))
    return states.every((text) => /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(String(text)))
  }
  while (!(await whole())) await new Promise((resolve) => setTimeout(resolve, 50))
  for (const admin of admins) admin.disconnect()
})
afterAll(async () => {
  for (const node of nodes) await node.remove()
})

const clients: Record<string, () => Promise<{ client: RedisClient; close(): void }>> = {
  'node-redis': async () => {
    const client = createCluster({ rootNodes: nodes.map(({ url }) => ({ url })) })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  ioredis: async () => {
    const client = new Cluster(nodes.map(({ url }) => url))
    return { client, close: () => client.disconnect() }
  },
}

describe.skipIf(givenRedis).each(Object.entries(clients))('%s', (_, connect) => {
  test('deliveries with events in many slots are answered from it', async () => {
    const { client, close } = await connect()
    const store = sqlite(':memory:')
    const inbox: Inbox = createInbox({
      store,
      sources: { batch: unverified({ each: 'events[]', id: 'json:id', type: 'json:type' }) },
      log: silentLog,
      processing: false,
      seen: redis(client, { timeLimit: 10_000 }),
    })
    try {
      await inbox.start()
      const body = Buffer.from(
        JSON.stringify({ events: Array.from({ length: 30 }, (_, i) => ({ id: `{e}${i}`, type: 't' })) }),
      )
      const send = () => inbox.receive('batch', { method: 'POST', url: 'http://x/', headers: {}, body })
      expect((await send()).status).toBe('accepted')
      await until(async () => {
        expect((await send()).status).toBe('already_received')
        return wholeInbox(inbox).counters.seen!.hits > 0
      }, 'all thirty are known')
      expect(wholeInbox(inbox).counters.seen!.errors).toBe(0)
      const once = redisOnce(client)
      expect(await Promise.all(['a', 'b', 'c', 'd'].map((key) => once(key, () => key)))).toEqual([
        'a',
        'b',
        'c',
        'd',
      ])
    } finally {
      await inbox.stop()
      await store.close()
      close()
    }
  })
})
