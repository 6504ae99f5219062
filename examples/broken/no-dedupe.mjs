/** Wrong: handles every delivery. When the 200 is lost, the sender delivers again, and the goods are sent twice. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

await endpoint('no-dedupe', async (raw, headers, shop) => {
  if (!isGenuine(raw, headers['stripe-signature'], secret)) return 401
  await shop.ship(JSON.parse(raw.toString()))
  return 200
})
