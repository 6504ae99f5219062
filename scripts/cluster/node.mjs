/**
 * One hookonce node of the cluster run: intake over HTTP, workers, and a spool when it is given a path. Its handler
 * writes a row without a unique key in the transaction of the event. Prints its URL; answers `status` with its spool.
 */

import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { postgres } from 'hookonce/postgres'
import { unverified } from '#dist/providers/generic/credentials.js'

const [url = '', spoolPath = ''] = process.argv.slice(2)
const inbox = createInbox({
  // The store recognises PgBouncer, and then sends statements without names.
  store: postgres({ url }),
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: { lease: 10_000, retry: { maxAttempts: 1_000, firstDelay: 200, maxDelay: 2_000 } },
  ...(spoolPath && { spool: { path: spoolPath } }),
})
inbox.on('shop', '*', async (event, ctx) => {
  const tx = /** @type {import('hookonce/postgres').PostgresTx} */ (ctx.tx)
  await tx.query('insert into public.effects (event) values ($1)', [event.id])
})
const server = createServer(nodeHandler(inbox))
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)))
await inbox.start()
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
console.log(`http://127.0.0.1:${port}`)

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'status') console.log(JSON.stringify((await inbox.spool?.status()) ?? { depth: 0 }))
}
