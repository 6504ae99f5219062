import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const mux = defineProvider({
  key: 'mux',
  name: 'Mux (video)',
  docs: 'https://www.mux.com/docs/core/verify-webhook-signatures',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret', signingSecret: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:mux-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    // The asset, the upload or the live stream.
    reference: ['json:object.id', 'json:data.id'],
    // `attempts` lists the attempts before this one.
    content: 'none',
  },
  // unchecked: from memory.
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  samples: sampleFile('mux'),
})
