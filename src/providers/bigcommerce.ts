import { choose, defineProvider, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const bigcommerce = defineProvider({
  key: 'bigcommerce',
  name: 'BigCommerce',
  docs: 'https://developer.bigcommerce.com/docs/integrations/webhooks',
  confidence: 'verified',
  // Standard Webhooks. The key is the text of the app's client secret, not decoded.
  verify: standardHmac('webhook', { secret: {} }),
  events: {
    id: 'header:webhook-id',
    type: 'json:scope',
    reference: 'json:data.id',
    references: {
      customer: choose('json:data.type', { customer: 'json:data.id' }),
      order: choose('json:data.type', { order: 'json:data.id' }),
      product: choose('json:data.type', { product: 'json:data.id' }),
    },
  },
  retryWindowMs: hours(48),
  disables: {
    when: 'deactivates a webhook after 90 days without an event',
    again: 'Set is_active to true with the API of BigCommerce.',
    docs: 'https://docs.bigcommerce.com/developer/docs/integrations/webhooks',
    confidence: 'verified',
  },
  samples: sampleFile('bigcommerce'),
})
