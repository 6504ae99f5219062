/** An inbox in a process of its own that handles the types it was told, until it is told `stop`. */
import { createInterface } from 'node:readline'
import { createInbox } from 'hookonce'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [types = '[]', insert = '', ...where] = process.argv.slice(2)
/** @type {import('hookonce/testing/contracts').CompleteStore} */
const store = await childStore(where)
const inbox = createInbox({
  store,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: { poll: 30 },
  log: 'silent',
})
for (const type of JSON.parse(types))
  inbox.on('shop', type, async (event, ctx) => {
    const tx = /** @type {any} */ (ctx.tx)
    await (where[0] === 'sqlite' ? tx.run(insert, [event.id]) : tx.query(insert, [event.id]))
  })

createInterface({ input: process.stdin }).on('line', async (line) => {
  if (line !== 'stop') return
  await inbox.stop()
  await store.close()
  process.exit(0)
})
await inbox.start()
say('started')
