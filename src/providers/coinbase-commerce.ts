import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'

export const coinbaseCommerce = defineProvider({
  key: 'coinbaseCommerce',
  name: 'Coinbase Commerce',
  docs: 'https://docs.cloud.coinbase.com/commerce/docs/webhooks-fields-and-security',
  confidence: 'verified',
  aliases: { sharedSecret: 'secret', webhookSecret: 'secret' },
  verify: hmacScheme({ signature: 'header:x-cc-webhook-signature', encoding: 'hex' }),
  events: {
    // The outer `id` is the attempt's, in the older format its number.
    id: 'json:event.id',
    type: 'json:event.type',
    reference: ['json:event.data.code', 'json:event.data.id'],
    // scheduled_for and attempt_number are new each time.
    content: 'none',
  },
  retryWindowMs: days(3),
  samples: {
    'charge:confirmed': {
      id: 1,
      scheduled_for: '{now:iso}',
      attempt_number: 1,
      event: {
        id: '{id}',
        resource: 'event',
        type: '{type}',
        api_version: '2018-03-22',
        created_at: '{now:iso}',
        data: { code: '66BEOV2A', name: 'The Sovereign Individual', pricing_type: 'fixed_price' },
      },
    },
    'charge:failed': {
      id: 1,
      scheduled_for: '{now:iso}',
      attempt_number: 1,
      event: {
        id: '{id}',
        resource: 'event',
        type: '{type}',
        api_version: '2018-03-22',
        created_at: '{now:iso}',
        data: { code: 'EQVLMWZX', name: 'The Sovereign Individual', pricing_type: 'fixed_price' },
      },
    },
  },
})
