/**
 * An inbox in a process of its own. It blocks at the step it was told, says so, and goes on when told `go`. Meant to be
 * killed, frozen and stopped.
 */

import { createInterface } from 'node:readline'
import { wholeInbox } from '#dist/inbox/internals.js'
import { childStore, say } from './child-store.mjs'

/**
 * @typedef {object} Told
 * @property {string | null} [step] where to block, once
 * @property {string | null} [process] run this event only, and say what came of it
 * @property {string | null} [abortOn] call process.abort() in the handler of this event
 * @property {'return' | 'throw'} [end] how the handler ends
 * @property {boolean} [hold] no handler ever ends
 * @property {boolean} [deaf] never hear that a lease is lost from a heartbeat
 * @property {number} [clockMs] how wrong this process's clock is
 * @property {object} [processing]
 * @property {number} [maxAttempts]
 * @property {number} [share] events in one transaction
 * @property {boolean} [consumer] has the named consumer `mail` too
 */
const [given = '{}', insert = '', ...where] = process.argv.slice(2)
/** @type {Told} */
const told = JSON.parse(given)
const { step = null, end = 'return', deaf = false, clockMs = 0, maxAttempts = 12, share = 1 } = told
const { consumer = false } = told

if (clockMs !== 0) {
  const now = Date.now
  Date.now = () => now() + clockMs
}
const { createInbox } = await import('hookonce')
const { unverified } = await import('#dist/providers/generic/credentials.js')

/** @type {() => void} */
let go = () => {}
/** @type {Promise<void>} */
const gone = new Promise((resolve) => {
  go = resolve
})
let blocked = false

/** @param {string} here */
async function reached(here) {
  if (here !== step || blocked) return
  blocked = true
  say(here)
  await gone
}

const quiet = () => {}
const real = await childStore(where)
/** @type {import('hookonce').Store} */
const store = {
  ...real,
  async claim(options) {
    await reached('before claim')
    const claimed = await real.claim(options)
    if (claimed.length > 0) await reached('after claim')
    return claimed
  },
  async extend(leases, leaseMs) {
    const alive = await real.extend(leases, leaseMs)
    return deaf ? alive.map(() => true) : alive
  },
  consumers: {
    ...real.consumers,
    async copy(copy) {
      await reached('before copy')
      const copying = real.consumers.copy(copy)
      if (step === 'in the copy') copying.catch(quiet)
      await reached('in the copy')
      const isCopied = await copying
      await reached('after copy')
      return isCopied
    },
  },
  async transaction() {
    const transaction = await real.transaction()
    return {
      ...transaction,
      async finish(settlements) {
        await reached('before settle')
        if (step === 'before commit' && !blocked) {
          await transaction.settle(settlements)
          await reached('before commit')
        }
        const finished = await transaction.finish(settlements)
        await reached('after commit')
        return finished
      },
    }
  },
}

const inbox = createInbox({
  store,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }) },
  processing: {
    lease: 1_000,
    poll: 30,
    ...told.processing,
    retry: { firstDelay: 1, maxDelay: 5, maxAttempts },
  },
  log: {
    debug: quiet,
    info: quiet,
    warn: ({ code, eventId }) => code === 'LEASE_LOST' && say(`LEASE_LOST ${eventId}`),
    error: ({ code }, message) => say(`error ${code} ${message}`),
  },
})

inbox.on(
  'shop',
  '*',
  async (event, ctx) => {
    if (event.id === told.abortOn) process.abort()
    await reached('in the handler')
    if (told.hold) await new Promise(() => {})
    const tx = /** @type {any} */ (ctx.tx)
    await (where[0] === 'sqlite' ? tx.run(insert, [event.id]) : tx.query(insert, [event.id]))
    await reached('after the effect')
    if (end === 'throw') throw new Error('failed late')
  },
  { share },
)

if (consumer) {
  const write = (/** @type {any} */ event, /** @type {any} */ { tx }) =>
    where[0] === 'sqlite' ? tx.run(insert, [`mail ${event.id}`]) : tx.query(insert, [`mail ${event.id}`])
  inbox.on('shop', '*', write, { consumer: 'mail', from: 'start' })
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  if (line === 'go') go()
  if (line === 'stop') {
    await inbox.stop({ deadline: 0 })
    await real.close()
    say('stopped')
    process.exit(0)
  }
})

say(`pid ${process.pid}`)
if (told.process) {
  await wholeInbox(inbox).store()
  const result = await inbox.process('shop', told.process)
  say(`result ${result?.kind ?? 'none'}`)
} else await inbox.start()
