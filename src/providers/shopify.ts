import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
    type: ['header:x-shopify-topic', 'header:shopify-topic'],
    reference: ['json:id', 'json:admin_graphql_api_id'],
  },
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-shopify-topic', 'x-shopify-shop-domain', 'x-shopify-event-id', 'x-shopify-triggered-at'],
  sampleHeaders: { 'x-shopify-shop-domain': 'example.myshopify.com', 'x-shopify-api-version': '2025-07' },
  // One sample is text, because its id is too large for a JavaScript number.
  samples: sampleFile('shopify'),
})
