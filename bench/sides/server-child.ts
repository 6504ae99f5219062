/** The compared servers of the intake suite, one in each child process. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { meta, stripe } from 'hookonce/providers'
import { postgresFloor } from '../floors/postgres.js'
import { sqliteFloor } from '../floors/sqlite.js'
import { answer } from '../support/child-process.js'
import { SECRET } from '../support/requests.js'
import { forwarding } from './forwarding.js'
import { handwritten } from './handwritten.js'
import { checkedServer, readAll, reply } from './http.js'
import { bullmqRoute, graphileRoute, pgBossRoute } from './queues.js'

const servers: Record<string, () => Promise<Server>> = {
  async bare() {
    return createServer((request, response) =>
      readAll(request, () => reply(response, { status: 'accepted' })),
    )
  },
  'no-store': async () => checkedServer(() => undefined),
  'floor-sqlite': sqliteFloor,
  'floor-postgres': postgresFloor,
  sqlite: () => hookonce(`sqlite:${process.env.BENCH_SQLITE}`),
  postgres: () => hookonce(process.env.BENCH_POSTGRES!),
  handwritten,
  'pg-boss': pgBossRoute,
  graphile: graphileRoute,
  bullmq: bullmqRoute,
  forwarding,
}

/** It only receives, as the routes of the queues do. */
async function hookonce(store: string): Promise<Server> {
  const inbox = createInbox({
    store,
    sources: { stripe: stripe({ secret: SECRET }), meta: meta({ secret: SECRET }) },
    processing: false,
    log: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

const server = await servers[process.argv[2]!]!()

answer({
  async listen() {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: (server.address() as AddressInfo).port }
  },
})
