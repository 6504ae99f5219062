/** Wrong: checks the signature over JSON that was parsed and serialised again, as after a body parser. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

/** @type {Map<string, Promise<void>>} */
const underWay = new Map()

await endpoint('reserialised-signature', async (raw, headers, shop) => {
  const event = JSON.parse(raw.toString())
  if (!isGenuine(JSON.stringify(event), headers['stripe-signature'], secret)) return 401
  // The rest is correct for one process: an id is handled once at a time, and the file of effects shows what is done.
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
