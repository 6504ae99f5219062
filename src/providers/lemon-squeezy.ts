import { choose, defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const lemonSqueezy = defineProvider({
  key: 'lemonSqueezy',
  name: 'Lemon Squeezy',
  docs: 'https://docs.lemonsqueezy.com/help/webhooks/webhook-requests',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  // It allows secrets of 6 to 40 characters; choose one of 16 or more.
  verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
  // There is no event id; the objects have `updated_at`. This event name is signed, the header x-event-name is not.
  events: {
    id: 'hash',
    type: 'json:meta.event_name',
    reference: ['json:data.attributes.subscription_id', 'json:data.id'],
    references: {
      customer: ['json:data.attributes.customer_id', choose('json:data.type', { customers: 'json:data.id' })],
      order: ['json:data.attributes.order_id', choose('json:data.type', { orders: 'json:data.id' })],
      subscription: [
        'json:data.attributes.subscription_id',
        choose('json:data.type', { subscriptions: 'json:data.id' }),
      ],
    },
  },
  // Three retries, after 5, 25 and 125 seconds; a user can request a delivery again at any time.
  retryWindowMs: minutes(3),
  answer: { timeLimitMs: null, httpStatus: 200 },
  sampleHeaders: { 'x-event-name': '{type}' },
  samples: sampleFile('lemon-squeezy'),
})
