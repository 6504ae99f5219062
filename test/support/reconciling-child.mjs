/** An inbox with a scheduled comparison, that handles what it gets: each event leaves one row in the user's table. */
import { createInbox } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { childStore, say } from './child-store.mjs'

const [baseUrl = '', apiKey = '', secret = '', every = '', insert = '', ...where] = process.argv.slice(2)
const inbox = createInbox({
  store: /** @type {import('hookonce').Store<any>} */ (await childStore(where)),
  sources: {
    stripe: stripe({
      ...{ secret, apiKey, baseUrl },
      reconcile: { every: /** @type {`${number}s`} */ (every), window: '3d' },
    }),
  },
  processing: { poll: 100, lease: 2_000 },
  log: {
    debug() {},
    info: ({ step }, message) => step === 'reconcile' && say(`info ${message}`),
    warn: (fields, message) => say(`warn ${message} ${JSON.stringify(fields)}`),
    error: (fields, message) => say(`error ${message} ${JSON.stringify(fields)}`),
  },
})
inbox.on('stripe', '*', async (event, ctx) => {
  const tx = /** @type {any} */ (ctx.tx)
  await (where[0] === 'sqlite' ? tx.run(insert, [event.id]) : tx.query(insert, [event.id]))
})
await inbox.start()
say('started')
