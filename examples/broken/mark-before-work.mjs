/** Wrong: marks the event as handled before its work. When the work fails, the retry is treated as a duplicate. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

await endpoint('mark-before-work', async (raw, headers, shop) => {
  if (!isGenuine(raw, headers['stripe-signature'], secret)) return 401
  const event = JSON.parse(raw.toString())
  const isNew = await shop.create(`handled ${event.id}`)
  if (!isNew) return 200
  await shop.ship(event)
  return 200
})
