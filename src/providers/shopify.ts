import { choose, defineProvider, hmacScheme, hours, part, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const topic = ['header:x-shopify-topic', 'header:shopify-topic'] as const

export const shopify = defineProvider({
  key: 'shopify',
  name: 'Shopify',
  docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  confidence: 'verified',
  aliases: { clientSecret: 'secret', apiSecret: 'secret', apiSecretKey: 'secret' },
  verify: hmacScheme({
    // The newer kind of webhooks has the same headers without `x-`.
    signature: { in: ['header:x-shopify-hmac-sha256', 'header:shopify-hmac-sha256'] },
    encoding: 'base64',
  }),
  events: {
    // One event causes a webhook for each subscription, all with the same event id. The webhook id is that of the
    // delivery, and its retries have the same one. None of these headers is signed.
    id: ['header:x-shopify-webhook-id', 'header:shopify-webhook-id'],
    type: topic,
    reference: [
      // These have ids, but belong to an order. A draft order gets an order_id later, so it is not here.
      choose(topic, {
        'refunds/create': 'json:order_id',
        'order_transactions/create': 'json:order_id',
        'fulfillments/create': 'json:order_id',
        'fulfillments/update': 'json:order_id',
        'fulfillment_events/create': 'json:order_id',
        'fulfillment_events/delete': 'json:order_id',
        'disputes/create': 'json:order_id',
        'disputes/update': 'json:order_id',
        'orders/edited': 'json:order_edit.order_id',
        // The level of an item changes at each of its locations.
        'inventory_levels/connect': 'json:inventory_item_id',
        'inventory_levels/update': 'json:inventory_item_id',
        'inventory_levels/disconnect': 'json:inventory_item_id',
      }),
      'json:id',
      'json:admin_graphql_api_id',
      // Requests of the privacy law.
      'json:customer.id',
      'json:shop_id',
    ],
    references: {
      customer: [
        choose(part('/', 0, topic), { customers: 'json:id' }),
        'json:customer.id',
        'json:customer_id',
      ],
      order: [
        choose(part('/', 0, topic), { orders: 'json:id' }),
        'json:order_id',
        'json:order_edit.order_id',
      ],
      product: choose(part('/', 0, topic), { products: 'json:id' }),
    },
  },
  retryWindowMs: hours(4),
  disables: {
    when: 'removes a subscription made through the Admin API after 8 failed attempts in a row (4 hours)',
    again: 'Create the subscription again, with webhookSubscriptionCreate.',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    confidence: 'likely',
  },
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-shopify-topic', 'x-shopify-shop-domain', 'x-shopify-event-id', 'x-shopify-triggered-at'],
  sampleHeaders: { 'x-shopify-shop-domain': 'example.myshopify.com', 'x-shopify-api-version': '2025-07' },
  // One sample is text, because its id is too large for a JavaScript number.
  samples: sampleFile('shopify'),
})
