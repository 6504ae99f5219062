/** Wrong: the signature is checked over JSON that was parsed and written again, as happens behind a body parser. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

/** @type {Map<string, Promise<void>>} */
const underWay = new Map()

await endpoint('reserialised-signature', async (raw, headers, shop) => {
  const event = JSON.parse(raw.toString())
  if (!isGenuine(JSON.stringify(event), headers['stripe-signature'], secret)) return 401
  // The rest is right enough for one process: one at a time for an id, and the effects themselves are what is asked.
  const before = underWay.get(event.id) ?? Promise.resolve()
  const work = before
    .catch(() => {})
    .then(async () => {
      if (!(await shop.lines('effects')).includes(event.id)) await shop.ship(event)
    })
  underWay.set(event.id, work)
  await work.finally(() => underWay.get(event.id) === work && underWay.delete(event.id))
  return 200
})
