/** The child process of the latency benchmark: an inbox behind node:http that records when its handler starts. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { unverified } from 'hookonce/providers'
import { answer } from '../support/child-process.js'

const starts: string[] = []
let noted = () => {}

const inbox = createInbox({
  store: process.env.BENCH_STORE!,
  sources: { shop: unverified({ id: 'json:id' }) },
  log: { debug() {}, info() {}, warn() {}, error: console.error },
})
inbox.on('shop', 'paid', () => {
  starts.push(String(process.hrtime.bigint()))
  noted()
})
await inbox.start()
const server = createServer(nodeHandler(inbox))

answer({
  async listen() {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: (server.address() as AddressInfo).port }
  },
  async handled() {
    if (starts.length === 0) {
      await new Promise<void>((resolve) => {
        noted = resolve
      })
    }
    return starts.shift()
  },
  async stop() {
    server.closeAllConnections()
    server.close()
    await inbox.stop()
    process.exit(0)
  },
})
