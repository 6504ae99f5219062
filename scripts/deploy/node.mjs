// @ts-nocheck: it is copied into the checkout of another version and runs with the package of that version.
/** One node of the deploy run. Prints its URL when it can record; ends on SIGTERM after the requests it has accepted. */
import { createServer } from 'node:http'
import { createInbox, silentLog } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'

const [url] = process.argv.slice(2)
const inbox = createInbox({
  store: postgres({ url }),
  log: silentLog,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
})
inbox.on('shop', '*', async (event, ctx) => {
  await ctx.tx.query('insert into public.effects (event) values ($1)', [event.id])
})
await inbox.start()
await inbox.store()
const server = createServer(nodeHandler(inbox))
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => {
  server.close(async () => {
    await inbox.stop()
    process.exit(0)
  })
  server.closeIdleConnections()
})
