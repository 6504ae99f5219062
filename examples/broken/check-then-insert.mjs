/** Wrong: looks up the event, handles it, then records it. Two deliveries at the same time both find no record. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

await endpoint('check-then-insert', async (raw, headers, shop) => {
  if (!isGenuine(raw, headers['stripe-signature'], secret)) return 401
  const event = JSON.parse(raw.toString())
  const handled = await shop.lines('handled')
  if (handled.includes(event.id)) return 200
  await shop.ship(event)
  await shop.append('handled', event.id)
  return 200
})
