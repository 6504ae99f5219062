/** Wrong: keeps the handled event ids in memory. This works, also for simultaneous deliveries, until the next deploy. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

/** @type {Map<string, Promise<void>>} */
const handled = new Map()

await endpoint('memory-dedupe', async (raw, headers, shop) => {
  if (!isGenuine(raw, headers['stripe-signature'], secret)) return 401
  const event = JSON.parse(raw.toString())
  if (!handled.has(event.id)) handled.set(event.id, shop.ship(event))
  try {
    await handled.get(event.id)
  } catch (error) {
    handled.delete(event.id)
    throw error
  }
  return 200
})
