import { defineProvider, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
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
  samples: sampleFile('polar'),
})
