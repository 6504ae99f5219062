/**
 * A serverless function: it answers after the commit and handles in `waitUntil`, without `inbox.start()`. Says its address,
 * and where it stands in a handler. Meant to be killed after an answer, as platforms do.
 */
import { serve } from '@hono/node-server'
import { createInbox } from 'hookonce'
import { fetchHandler } from 'hookonce/fetch'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [hold = '', insert = '', ...where] = process.argv.slice(2)
const inbox = createInbox({
  store: /** @type {any} */ (await childStore(where)),
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: { lease: 1_000 },
  log: 'silent',
})
inbox.on('shop', '*', async (event, ctx) => {
  if (hold === 'before the effect') await new Promise(() => say(hold))
  await /** @type {any} */ (ctx.tx).query(insert, [event.id])
  if (hold === 'after the effect') await new Promise(() => say(hold))
})

const handle = fetchHandler(inbox)

/** @param {Request} request @param {{ waitUntil(work: Promise<unknown>): void }} context */
async function webhooks(request, { waitUntil }) {
  const response = await handle(request)
  waitUntil(inbox.drain())
  return response
}

/** @param {Promise<unknown>} work */
const waitUntil = (work) => void work.catch(() => {})
serve({ fetch: (request) => webhooks(request, { waitUntil }), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  say(`http://127.0.0.1:${port}/webhooks/shop`),
)
