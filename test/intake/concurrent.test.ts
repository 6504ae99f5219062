/** Many deliveries of the same events at once, over real HTTP, on both stores, into two servers at once. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox, type Inbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { onBothStores, secretOf } from '../support/inboxes.js'

onBothStores((stores) => {
  test('64 deliveries each of 5 events to two servers on one log: 5 rows, all 2xx, one "new" for each', async () => {
    const source = stripe({ secret: secretOf('stripe') })
    const servers: Server[] = []
    const inboxes: Inbox[] = []
    for (let i = 0; i < 2; i++) {
      const inbox = createInbox({ store: stores.open(), sources: { stripe: source } })
      inboxes.push(inbox)
      await inbox.start()
      const server = createServer(nodeHandler(inbox))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      servers.push(server)
    }
    const ports = servers.map((server) => (server.address() as AddressInfo).port)
    const news = new Map<string, number>()
    const statuses = new Set<number>()
    const bodyHashes = Array.from({ length: 5 }, (_, i) => `evt_concurrent_${i}`)
    await Promise.all(
      bodyHashes.flatMap((id) =>
        Array.from({ length: 64 }, async (_, k) => {
          const { headers, body } = await source.sign(source.sample({ now: 1_750_000_000_000, id }))
          const fresh = await source.sign({ body, now: Date.now(), headers })
          const response = await fetch(`http://127.0.0.1:${ports[k % 2]}/webhooks/stripe`, {
            method: 'POST',
            headers: fresh.headers,
            body: body,
          })
          statuses.add(response.status)
          const { duplicate } = (await response.json()) as { duplicate: boolean }
          if (!duplicate) news.set(id, (news.get(id) ?? 0) + 1)
        }),
      ),
    )
    for (const server of servers) await new Promise((resolve) => server.close(resolve).closeAllConnections())
    for (const inbox of inboxes) await inbox.stop()
    expect([...statuses]).toEqual([200])
    expect([...news].sort()).toEqual(bodyHashes.map((id) => [id, 1]).sort())
    const store = stores.open()
    expect((await store.stats())[0]?.recorded).toBe(5)
  })
})
