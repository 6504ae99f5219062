/** Wrong: every delivery is handled. A sender that does not hear the 200 delivers again, and the goods go out twice. */
import { endpoint, secret } from './endpoint.mjs'
import { isGenuine } from './signature.mjs'

await endpoint('no-dedupe', async (raw, headers, shop) => {
  if (!isGenuine(raw, headers['stripe-signature'], secret)) return 401
  await shop.ship(JSON.parse(raw.toString()))
  return 200
})
