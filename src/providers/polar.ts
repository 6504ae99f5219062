import { defineProvider, seconds } from '../verification/define-provider.js'
import { standardHmac } from './shared/standard.js'

export const polar = defineProvider({
  key: 'polar',
  name: 'Polar',
  docs: 'https://docs.polar.sh/integrate/webhooks/delivery',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Standard Webhooks, but for the secret: its text is the key, nothing is decoded or taken off.
  verify: standardHmac('webhook', { secret: {} }),
  events: { id: 'header:webhook-id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  samples: {
    'order.paid': {
      type: 'order.paid',
      timestamp: '{now:iso}',
      data: {
        id: '57107b74-8400-4d80-a2fc-54c2b4239cb3',
        status: 'paid',
        total_amount: 1000,
        currency: 'usd',
        customer_id: '22a92106-3f1d-4679-a6ec-ef3ac5c7ea08',
        product_id: 'b5fbd1a4-8a7c-4d21-9a4e-7f0d0a3c9b1e',
      },
    },
    'subscription.created': {
      type: 'subscription.created',
      timestamp: '{now:iso}',
      data: {
        id: 'e5149aae-e521-42b9-b24c-abb3d71eea2e',
        status: 'active',
        amount: 1000,
        currency: 'usd',
        customer_id: '22a92106-3f1d-4679-a6ec-ef3ac5c7ea08',
      },
    },
  },
})
