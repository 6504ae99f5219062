import { defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const modernTreasury = defineProvider({
  key: 'modernTreasury',
  name: 'Modern Treasury',
  docs: 'https://docs.moderntreasury.com/platform/reference/webhooks',
  confidence: 'verified',
  aliases: { webhookKey: 'secret' },
  verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
  events: {
    // Recommended by its documentation for dedupe; not signed.
    id: 'header:x-webhook-id',
    type: join('.', ['json:data.object', 'header:x-topic'], 'json:event'),
    reference: 'json:data.id',
  },
  // Exponential backoff within an undocumented time.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-topic', 'x-webhook-id'],
  sampleHeaders: { 'x-topic': 'payment_order' },
  samples: sampleFile('modern-treasury'),
})
