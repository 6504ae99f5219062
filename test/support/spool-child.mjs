/**
 * An inbox with a spool in a process of its own, on a store that is away until told `back`. Told `send <source> <id>` it
 * delivers and says the status; told `status` it says what the spool says. It blocks for good at the step it was told.
 */

import { createInterface } from 'node:readline'
import { createInbox, HookonceError, silentLog } from 'hookonce'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [path = '', step = '', batchesBefore = '0', ...where] = process.argv.slice(2)
const real = await childStore(where)
let away = step === ''
let batches = 0

/** @param {string} here */
async function reached(here) {
  if (here !== step || batches <= Number(batchesBefore)) return
  say(here)
  setInterval(() => {}, 1_000)
  await new Promise(() => {})
}

/** @type {import('hookonce').Store} */
const store = {
  ...real,
  async record(deliveries) {
    if (away) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
    batches++
    await reached('before record')
    const verdicts = await real.record(deliveries)
    await reached('after record')
    return verdicts
  },
  async stats() {
    if (away) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
    return real.stats()
  },
}
const source = () => unverified({ id: 'json:id', type: 'json:type' })
const inbox = createInbox({
  store,
  sources: { s0: source(), s1: source() },
  log: silentLog,
  processing: false,
  spool: { path },
})
await inbox.start()
say('ready')

for await (const line of createInterface({ input: process.stdin })) {
  const [word, name = '', id = ''] = line.split(' ')
  if (word === 'away') away = true
  if (word === 'back') away = false
  if (word === 'status') say(JSON.stringify(await inbox.spool?.status()))
  if (word === 'send') {
    const body = Buffer.from(JSON.stringify({ id, type: 'order.paid' }))
    const receipt = await inbox.receive(name, { method: 'POST', url: 'http://x/', headers: {}, body })
    say(`${receipt.status} ${id}`)
  }
  if (word === 'stop') break
}
await inbox.stop()
await real.close()
process.stdin.destroy()
