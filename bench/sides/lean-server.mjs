/**
 * A process with hookonce and nothing else: no TypeScript loader and none of the other systems, so that its memory and
 * its start-up are those of a production process. It receives, and its handler writes one row.
 */
import { createServer } from 'node:http'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'

const [store = '', secret = ''] = process.argv.slice(2)
const isSqlite = store.startsWith('sqlite:')
const table = 'create table if not exists effects (event_id text not null)'
const quiet = () => {}
const inbox = createInbox({
  store,
  sources: { stripe: stripe({ secret }) },
  log: { debug: quiet, info: quiet, warn: quiet, error: console.error },
})
let hasTable = false
inbox.on('stripe', '*', async (event, ctx) => {
  const tx = /** @type {any} */ (ctx.tx)
  if (!hasTable) await (isSqlite ? tx.run(table) : tx.query(table))
  hasTable = true
  if (isSqlite) await tx.run('insert into effects values (?)', [event.id])
  else await tx.query({ name: 'effect', text: 'insert into effects values ($1)', values: [event.id] })
})
await inbox.start()
const server = createServer(nodeHandler(inbox)).listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ answer: { port: typeof address === 'object' ? address?.port : 0 } })
})
process.once('disconnect', () => process.exit(0))
