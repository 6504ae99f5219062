/** A server in a process of its own, as the command line runs one. Says its URL; ends by signals only. */
import { createInbox, jsonLog, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { createServer, runProcesses, runUntilSignal } from 'hookonce/server'
import { childStore, say } from './child-store.mjs'

/**
 * @typedef {object} Told
 * @property {import('hookonce/server').ServerOptions} [server]
 * @property {boolean} [worker] only handlers, no server
 * @property {object | false} [processing]
 * @property {number} [handlerMs] how long a handler takes
 * @property {boolean} [crash] end at once, before listening
 * @property {boolean} [loud]
 */
const [given = '{}', insert = '', ...where] = process.argv.slice(2)
/** @type {Told} */
const told = JSON.parse(given)

async function run() {
  if (told.crash) return 3
  const store = childStore(where)
  const inbox = createInbox({
    store: /** @type {import('hookonce').Store} */ (store),
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
    log: silentLog,
    processing: told.processing ?? { leaseMs: 1_000, pollMs: 50 },
  })
  inbox.on('shop', '*', async (event, ctx) => {
    if (told.handlerMs) await new Promise((resolve) => setTimeout(resolve, told.handlerMs))
    const tx = /** @type {any} */ (ctx.tx)
    const value = `${event.id} ${process.pid}`
    await (where[0] === 'sqlite' ? tx.run(insert, [value]) : tx.query(insert, [value]))
  })
  await inbox.start()
  if (told.worker) {
    say(`worker ${process.pid}`)
    return runUntilSignal({ inbox })
  }
  const server = createServer(inbox, { port: 0, admin: false, lameDuckMs: 0, ...told.server })
  const { url } = await server.listen()
  say(`${url} ${process.pid}`)
  return runUntilSignal({ server }, { onStop: (reason) => say(`stopping: ${reason}`) })
}

const { processes = 1 } = told.server ?? {}
const log = told.loud ? jsonLog('error', (line) => void say(line.trim())) : silentLog
process.exit(await runProcesses({ processes, log, restartMs: 20, drainMs: 25_000 }, run))
