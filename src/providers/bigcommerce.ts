import { defineProvider, hours } from '../verification/define-provider.js'
import { standardHmac } from './shared/standard.js'

export const bigcommerce = defineProvider({
  key: 'bigcommerce',
  name: 'BigCommerce',
  docs: 'https://developer.bigcommerce.com/docs/integrations/webhooks',
  confidence: 'verified',
  // Standard Webhooks, keyed with the text of the app's client secret as it stands.
  verify: standardHmac('webhook', { secret: {} }),
  events: { id: 'header:webhook-id', type: 'json:scope', reference: 'json:data.id' },
  retryWindowMs: hours(48),
  samples: {
    'store/order/created': {
      scope: '{type}',
      store_id: '1025646',
      data: { type: 'order', id: 250 },
      hash: 'dd70c0976e06b67aaf671e73f49dcb79230ebf9d',
      created_at: '{now:s}',
      producer: 'stores/abc123',
    },
    'store/product/inventory/updated': {
      scope: '{type}',
      store_id: '1025646',
      data: {
        type: 'product',
        id: 167,
        inventory: { product_id: 167, method: 'absolute', value: 100000000 },
      },
      hash: 'e8e2b5fb9a1b6e4ff0b2a7c5a4bc3a9d7e4a1c6f',
      created_at: '{now:s}',
      producer: 'stores/abc123',
    },
  },
})
