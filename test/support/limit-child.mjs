/**
 * An inbox with a limited handler in a process of its own. It says `begin <id> <instant>` for each call, and writes the
 * instants between which it ran through `ctx.tx`: they are kept only if the attempt is. The first call for an event of `hold`
 * says `hold <id>` and goes on when told `go`.
 */

import { createInterface } from 'node:readline'
import { createInbox } from 'hookonce'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

/**
 * @typedef {object} Told
 * @property {import('#dist/processing/handler.js').HandlerLimit} limit
 * @property {object} [processing]
 * @property {string[]} [hold]
 * @property {number} [handlerMs] how long a call takes; without it nothing is written
 */
const [given = '{}', insert = '', ...where] = process.argv.slice(2)
/** @type {Told} */
const { limit, processing = {}, hold = [], handlerMs } = JSON.parse(given)
const store = await childStore(where)
/** @type {() => void} */
let go = () => {}
/** All processes of a machine have this clock, and so has its database. */
const now = () => performance.timeOrigin + performance.now()

const inbox = createInbox({
  store: /** @type {import('hookonce').Store} */ (store),
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: { poll: 100, ...processing },
  log: 'silent',
})
inbox.on(
  'shop',
  '*',
  async (event, ctx) => {
    const from = now()
    say(`begin ${event.id} ${from}`)
    if (handlerMs === undefined) return
    if (hold.includes(event.id) && ctx.attempt === 1) {
      /** @type {Promise<void>} */
      const told = new Promise((resolve) => {
        go = resolve
      })
      say(`hold ${event.id}`)
      await told
    } else await new Promise((resolve) => setTimeout(resolve, handlerMs))
    const tx = /** @type {any} */ (ctx.tx)
    const values = [`${event.id} ${from} ${now()}`]
    await (where[0] === 'sqlite' ? tx.run(insert, values) : tx.query(insert, values))
  },
  { limit },
)

createInterface({ input: process.stdin }).on('line', async (line) => {
  if (line === 'go') go()
  if (line !== 'stop') return
  await inbox.stop({ deadline: 1_000 })
  await store.close()
  process.exit(0)
})
await inbox.start()
say('started')
