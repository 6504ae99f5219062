/** A server in a process of its own, as the command line runs one. Says its URL; ends by signals only. */
import { createInbox, silentLog } from 'hookonce'
import { createServer, runUntilSignal } from 'hookonce/server'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

/**
 * @typedef {object} Told
 * @property {import('hookonce/server').ServerOptions} [server]
 * @property {boolean} [worker] only handlers, no server
 * @property {object | false} [processing]
 * @property {number} [handlerMs] how long a handler takes
 * @property {number} [endsMs] it ends so long after its signal is aborted; left out: it ignores the signal
 * @property {boolean} [saysBegun] says `begun <id>` when a handler begins
 */
const [given = '{}', insert = '', ...where] = process.argv.slice(2)
/** @type {Told} */
const told = JSON.parse(given)

async function run() {
  const store = await childStore(where)
  const inbox = createInbox({
    store: /** @type {import('hookonce').Store} */ (store),
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
    log: silentLog,
    processing: told.processing ?? { lease: 1_000, poll: 50 },
  })
  inbox.on('shop', '*', async (event, ctx) => {
    if (told.saysBegun) say(`begun ${event.id}`)
    if (told.handlerMs)
      await new Promise((resolve) => {
        setTimeout(resolve, told.handlerMs)
        if (told.endsMs !== undefined)
          ctx.signal.addEventListener('abort', () => setTimeout(resolve, told.endsMs))
      })
    const tx = /** @type {any} */ (ctx.tx)
    const value = `${event.id} ${process.pid}`
    await (where[0] === 'sqlite' ? tx.run(insert, [value]) : tx.query(insert, [value]))
  })
  await inbox.start()
  if (told.worker) {
    say(`worker ${process.pid}`)
    return runUntilSignal({ inbox })
  }
  const server = createServer(inbox, { port: 0, admin: false, lameDuck: 0, ...told.server })
  const { url } = await server.listen()
  say(`${url} ${process.pid}`)
  return runUntilSignal({ server }, { onStop: (reason) => say(`stopping: ${reason}`) })
}

process.exit(await run())
