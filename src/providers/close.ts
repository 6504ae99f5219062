import { defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const close = defineProvider({
  key: 'close',
  name: 'Close',
  docs: 'https://developer.close.com/topics/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:close-sig-hash',
    encoding: 'hex',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:close-sig-timestamp', unit: 's' },
    // The signature key is the hex of the key bytes.
    secret: { encoding: 'hex' },
  }),
  events: {
    id: 'json:event.id',
    type: join('.', 'json:event.object_type', 'json:event.action'),
    reference: 'json:event.object_id',
  },
  retryWindowMs: null,
  disables: {
    when: 'pauses a subscription after 3 days in which every delivery failed',
    again: 'Set its status to active with the API of Close.',
    docs: 'https://developer.close.com/topics/webhooks/',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'ev_',
  samples: sampleFile('close'),
})
