/**
 * One node: intake over HTTP on an address of its own, workers, and a spool where it is given one. Says its URL, then
 * answers `status` with what its spool says. Meant to be cut off, killed and started again.
 */

import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { createInbox, silentLog } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { postgres } from 'hookonce/postgres'
import { unverified } from '#dist/providers/generic/credentials.js'
import { say } from './child-store.mjs'

const [host = '', url = '', schema = '', spoolPath = '', sources = '', insert = ''] = process.argv.slice(2)
const inbox = createInbox({
  store: postgres({ url, schema, statementTimeout: 3_000 }),
  sources: Object.fromEntries(
    sources
      .split(',')
      .map((name) => [name, unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' })]),
  ),
  log: silentLog,
  processing: { lease: 2_000, poll: 100, retry: { maxAttempts: 1_000, firstDelay: 50, maxDelay: 500 } },
  ...(spoolPath && { spool: { path: spoolPath, after: 500 } }),
})
for (const name of sources.split(',')) {
  inbox.on(name, '*', async (event, ctx) => {
    const tx = /** @type {import('hookonce/postgres').PostgresTx} */ (ctx.tx)
    await tx.query(insert, [event.id])
  })
}
const server = createServer(nodeHandler(inbox))
server.listen(0, host)
await new Promise((resolve) => server.once('listening', resolve))
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
await inbox.start()
say(`http://${host}:${port}`)

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'status') say(JSON.stringify((await inbox.spool?.status()) ?? null))
}
