import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const coinbaseCommerce = defineProvider({
  key: 'coinbaseCommerce',
  name: 'Coinbase Commerce',
  docs: 'https://docs.cloud.coinbase.com/commerce/docs/webhooks-fields-and-security',
  confidence: 'verified',
  aliases: { sharedSecret: 'secret', webhookSecret: 'secret' },
  verify: hmacScheme({ signature: 'header:x-cc-webhook-signature', encoding: 'hex' }),
  events: {
    // The outer `id` is that of the attempt; in the older format it is the number of the attempt.
    id: 'json:event.id',
    type: 'json:event.type',
    reference: ['json:event.data.code', 'json:event.data.id'],
    // scheduled_for and attempt_number change with each attempt.
    content: 'none',
  },
  retryWindowMs: days(3),
  samples: sampleFile('coinbase-commerce'),
})
