/**
 * A server with a dashboard in a process of its own. Arguments: options as JSON, then the store. The option `mount` puts
 * the dashboard below a path of an Express app; `compared` adds a source that can be compared with Stripe; `port` gives a restarted server the address of the one before.
 */
import express from 'express'
import { createInbox, reply, silentLog } from 'hookonce'
import { expressHandler } from 'hookonce/express'
import { stripe } from 'hookonce/providers'
import { admin, createServer, nodeAdmin } from 'hookonce/server'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [given = '{"tokens":[]}', ...where] = process.argv.slice(2)
/** @type {{ port?: number, mount?: string, compared?: boolean, tokens: import('hookonce/server').Token[] }} */
const told = JSON.parse(given)

/** @type {Parameters<typeof unverified>[0]} */
const fields = { id: 'json:id', type: 'json:type', reference: 'json:ref' }
const inbox = createInbox({
  store: /** @type {import('hookonce').Store} */ (await childStore(where)),
  sources: {
    shop: unverified(fields),
    bank: unverified(fields),
    club: unverified(fields),
    ...(told.compared && {
      stripe: stripe({ secret: 'whsec_0123456789abcdef', apiKey: 'rk_test_dashboard' }),
    }),
    lanes: unverified({ ...fields, order: 'reference' }),
    desk: unverified({ ...fields, mode: 'inline' }),
  },
  log: silentLog,
  processing: { poll: 50, retry: { maxAttempts: 1 } },
})
/** @type {Set<string>} */
const charged = new Set()
inbox.on('shop', '*', async (event, ctx) => {
  await ctx.once('mail', async () => 'sent')
  if (event.type === 'order.charge') {
    // The first call gets no answer, so nobody knows whether it happened.
    const charge = async () => {
      if (!charged.has(event.id)) {
        charged.add(event.id)
        throw new Error('the bank did not answer')
      }
      return { id: 'ch_again' }
    }
    ctx.ignore(`charged as ${(await ctx.once('charge', charge, { keyLives: 0 })).id}`)
  }
  if (event.type === 'order.failed') throw new Error(`the ledger answered 503 for ${event.id}`)
})
inbox.on(
  'lanes',
  '*',
  (event) => {
    if (event.type === 'order.later') throw new Error('the ledger is away')
  },
  { retry: { maxAttempts: 5, firstDelay: '1h', maxDelay: '1h' } },
)
inbox.on('desk', '*', ({ payload }, { run }) => {
  const { answer } = /** @type {{ answer: string }} */ (payload)
  return reply(`${answer} of run ${run}`, {
    status: 201,
    headers: { 'content-type': 'text/html', 'x-desk': '7' },
  })
})
inbox.on('club', '*', () => {})
inbox.on('club', '*', () => Promise.reject(new Error('the mail server is away')), { consumer: 'mail' })
await inbox.start()

const access = { tokens: told.tokens }
if (told.mount) {
  const app = express()
  const handler = admin(inbox, { basePath: told.mount, ...access })
  app.use(nodeAdmin(handler, told.mount))
  app.post('/webhooks/:source', expressHandler(inbox))
  const server = app.listen(0, '127.0.0.1', () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address())
    say(`http://127.0.0.1:${address.port}`)
  })
} else {
  const server = createServer(inbox, { port: told.port ?? 0, admin: access })
  const { url } = await server.listen()
  say(url)
}
