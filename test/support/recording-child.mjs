/** Records without end and says each id only after the store has acknowledged it. Meant to be killed. */
import { childStore, say } from './child-store.mjs'

const [prefix, ...where] = process.argv.slice(2)
const store = await childStore(where)
let last = 0

async function lane() {
  for (;;) {
    const ids = Array.from({ length: 1 + Math.floor(Math.random() * 8) }, () => `${prefix}-${last++}`)
    const verdicts = await acknowledged(ids)
    for (const [i, id] of ids.entries()) say(`${verdicts[i]?.[0]?.status} ${id}`)
  }
}

/**
 * As a sender does: the same delivery again until it is acknowledged.
 * @param {string[]} ids
 */
async function acknowledged(ids) {
  for (;;) {
    try {
      return await store.record(ids.map(delivery))
    } catch (error) {
      const code = /** @type {{ code?: string }} */ (error).code ?? String(error)
      if (code !== 'STORE_UNAVAILABLE' && code !== 'STORE_BUSY') say(`failed ${code}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** @param {string} eventId */
function delivery(eventId) {
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from(`body of ${eventId}`),
    events: [{ id: eventId, type: 'order.paid', reference: null, contentHash: null, guardHash: null }],
    contentGuard: /** @type {const} */ ('review'),
  }
}

await Promise.all([lane(), lane(), lane(), lane()])
