/** The same endpoint on hookonce: the effect is a row that commits together with the event's outcome. */
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { folderOf, secret } from './endpoint.mjs'

const folder = folderOf('right')
await mkdir(folder, { recursive: true })
const store = sqlite(join(folder, 'events.db'))
const inbox = createInbox({
  store,
  sources: { stripe: stripe({ secret }) },
  processing: { lease: 2_000, retry: { firstDelay: 100 } },
})
/** @type {Set<string>} */
const faults = new Set()

inbox.on(
  'stripe',
  'invoice.paid',
  async (event, ctx) => {
    await ctx.tx.run('insert into shipped (event) values (?)', [event.id])
    if (faults.delete(event.id)) throw new Error('the warehouse did not answer')
  },
  // Ignore an event that is older than the last one about the same invoice.
  { stale: (event) => /** @type {{ created: number }} */ (event.payload).created },
)

/**
 * Reads and writes the table of the application, in the same file, outside a handler.
 * @template T
 * @param {(tx: import('hookonce/sqlite').SqliteTx) => Promise<T>} work
 */
async function inDatabase(work) {
  const transaction = await store.transaction()
  const result = await work(transaction.tx)
  await transaction.commit()
  return result
}
await store.migrate()
await inDatabase((tx) => tx.run('create table if not exists shipped (event text not null)', []))
await inbox.start()

const intake = nodeHandler(inbox, { source: 'stripe' })
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/webhooks') return intake(request, response)
  if (url.pathname === '/effects') {
    const id = url.searchParams.get('id')
    const row = await inDatabase((tx) =>
      tx.get('select count(*) as effects from shipped where ?1 is null or event = ?1', [id]),
    )
    return response.end(JSON.stringify(row))
  }
  if (url.pathname === '/fault') {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    faults.add(JSON.parse(Buffer.concat(chunks).toString()).event_id)
    return response.writeHead(204).end()
  }
  response.writeHead(404).end()
})
server.listen(Number(process.env.PORT ?? 4200), '127.0.0.1', async () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  await writeFile(join(folder, 'pid'), String(process.pid))
  console.log(`right: http://127.0.0.1:${address.port}/webhooks`)
})
process.once('SIGTERM', async () => {
  server.close().closeAllConnections()
  await inbox.stop()
  await store.close()
})
