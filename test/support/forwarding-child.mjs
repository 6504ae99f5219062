/** An inbox with one destination, in a process of its own. Meant to be killed while it sends. */
import { createInbox, silentLog } from 'hookonce'
import { addDestinations } from 'hookonce/forward'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [url = '', secret = '', ...where] = process.argv.slice(2)
const store = /** @type {import('hookonce').Store} */ (await childStore(where))
const inbox = createInbox({
  store,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: { lease: 4_000, poll: 20 },
  log: silentLog,
})
addDestinations(inbox, { billing: { url, secret, allowPrivate: ['127.0.0.0/8'], from: 'start' } })
await inbox.start()
say('started')
