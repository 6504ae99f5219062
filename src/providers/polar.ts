import { defineProvider, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const polar = defineProvider({
  key: 'polar',
  name: 'Polar',
  docs: 'https://docs.polar.sh/integrate/webhooks/delivery',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Standard Webhooks, except for the secret: its text is the key, with its prefix and not decoded.
  verify: standardHmac('webhook', { secret: {} }),
  events: { id: 'header:webhook-id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('polar'),
})
