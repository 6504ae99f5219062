import { defineProvider } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const replicate = defineProvider({
  key: 'replicate',
  name: 'Replicate',
  docs: 'https://replicate.com/docs/topics/webhooks/verify-webhook',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret', signingSecret: 'secret' },
  // Standard Webhooks, as in its library (replicate 1.4.0).
  verify: standardHmac('webhook'),
  events: {
    id: 'header:webhook-id',
    // The body is the prediction or training itself, which has no type.
    type: 'json:status',
    reference: 'json:id',
  },
  retryWindowMs: null,
  sampleId: 'msg_',
  samples: sampleFile('replicate'),
})
