import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'

export const lemonSqueezy = defineProvider({
  key: 'lemonSqueezy',
  name: 'Lemon Squeezy',
  docs: 'https://docs.lemonsqueezy.com/help/webhooks/webhook-requests',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  // It allows secrets of 6 to 40 characters; choose one of 16 or more.
  verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
  // There is no event id; the objects have `updated_at`. The header x-event-name is not signed, this name is.
  events: { id: 'hash', type: 'json:meta.event_name', reference: 'json:data.id' },
  // Three retries, after 5, 25 and 125 seconds; by hand any time later.
  retryWindowMs: minutes(3),
  answer: { timeLimitMs: null, httpStatus: 200 },
  sampleHeaders: { 'x-event-name': '{type}' },
  samples: {
    order_created: {
      meta: { event_name: 'order_created', custom_data: { user_id: '{id}' } },
      data: {
        type: 'orders',
        id: '1',
        attributes: {
          store_id: 1,
          identifier: '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10',
          order_number: 1,
          currency: 'USD',
          total: 1199,
          status: 'paid',
          updated_at: '{now:iso}',
        },
      },
    },
    subscription_updated: {
      meta: { event_name: 'subscription_updated', custom_data: { user_id: '{id}' } },
      data: {
        type: 'subscriptions',
        id: '7',
        attributes: { store_id: 1, product_id: 3, status: 'active', updated_at: '{now:iso}' },
      },
    },
  },
})
