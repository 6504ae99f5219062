/** Calls `inbox.once` with one key many times at once, when told to; says each run of the work and each result. */

import { once } from 'node:events'
import { createInbox, silentLog } from 'hookonce'
import { wholeInbox } from '#dist/inbox/internals.js'
import { childStore, say } from './child-store.mjs'

const [callers, ...where] = process.argv.slice(2)
/** @type {import('hookonce').Store} */
const store = await childStore(where)
const inbox = createInbox({ store, sources: {}, log: silentLog })
await wholeInbox(inbox).store()
say('ready')
await once(process.stdin, 'data')
await Promise.all(
  Array.from({ length: Number(callers) }, async () => {
    const result = await inbox.once('one key', async () => {
      say(`run ${process.pid}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
      return { by: process.pid }
    })
    say(`result ${JSON.stringify(result)}`)
  }),
)
await inbox.stop()
await store.close()
process.stdin.destroy()
