/** Charges in a process of its own. It blocks at the step it was told, says so, and is meant to be killed there. */
import { createInbox } from 'hookonce'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'
import { payingHandler } from './paying.mjs'

const [given = '{}', ...where] = process.argv.slice(2)
const { step, ...paying } = JSON.parse(given)
let blocked = false

/** @param {string} here */
async function reached(here) {
  if (here !== step || blocked) return
  blocked = true
  say(here)
  await new Promise(() => {})
}

const real = await childStore(where)
/** @type {import('hookonce').Store} */
const store = {
  ...real,
  keys: {
    ...real.keys,
    async effect(effect) {
      await reached(`before ${effect.step}`)
      const state = await real.keys.effect(effect)
      await reached(`after ${effect.step}`)
      return state
    },
  },
  async transaction() {
    const transaction = await real.transaction()
    return {
      ...transaction,
      async finish(settlements) {
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
    concurrency: 2,
    retry: { firstDelay: 1, maxDelay: 5, maxAttempts: 50 },
  },
  log: 'silent',
})
inbox.on('shop', '*', payingHandler({ ...paying, reached }))
await inbox.start()
