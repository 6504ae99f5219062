import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const shopify = defineProvider({
  key: 'shopify',
  name: 'Shopify',
  docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  confidence: 'verified',
  aliases: { clientSecret: 'secret', apiSecret: 'secret', apiSecretKey: 'secret' },
  verify: hmacScheme({
    // The newer events family sends the same headers without `x-`.
    signature: { in: ['header:x-shopify-hmac-sha256', 'header:shopify-hmac-sha256'] },
    encoding: 'base64',
  }),
  events: {
    // One event gives a webhook per subscription, all with one event id; the webhook id is the delivery's own and
    // stays the same on its retries. None of these headers is signed.
    id: ['header:x-shopify-webhook-id', 'header:shopify-webhook-id'],
    type: ['header:x-shopify-topic', 'header:shopify-topic'],
    reference: ['json:id', 'json:admin_graphql_api_id'],
  },
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-shopify-topic', 'x-shopify-shop-domain', 'x-shopify-event-id', 'x-shopify-triggered-at'],
  sampleHeaders: { 'x-shopify-shop-domain': 'example.myshopify.com', 'x-shopify-api-version': '2025-07' },
  // A sample is text where an id is beyond what a JavaScript number holds.
  samples: sampleFile('shopify'),
})
