/** Signed Stripe deliveries as bytes on the wire, each id once. */
import { randomBytes } from 'node:crypto'
import type { stripe } from 'hookonce/providers'
import { httpRequest } from './load.js'

export async function stripeRequests(source: ReturnType<typeof stripe>, count: number): Promise<Buffer[]> {
  const made: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const delivery = await source.sign(
      source.sample({ now: Date.now(), id: `evt_${randomBytes(12).toString('hex')}` }),
    )
    made.push(httpRequest('/webhooks/stripe', delivery.headers, delivery.body))
  }
  return made
}
