import { defineProvider, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const bigcommerce = defineProvider({
  key: 'bigcommerce',
  name: 'BigCommerce',
  docs: 'https://developer.bigcommerce.com/docs/integrations/webhooks',
  confidence: 'verified',
  // Standard Webhooks. The key is the text of the app's client secret, not decoded.
  verify: standardHmac('webhook', { secret: {} }),
  events: { id: 'header:webhook-id', type: 'json:scope', reference: 'json:data.id' },
  retryWindowMs: hours(48),
  samples: sampleFile('bigcommerce'),
})
