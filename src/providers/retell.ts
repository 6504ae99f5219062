import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const retell = defineProvider({
  key: 'retell',
  name: 'Retell AI',
  docs: 'https://docs.retellai.com/features/secure-webhook',
  confidence: 'verified',
  // The API key with the webhook badge is the secret; as in its library (retell-sdk 5.66.1).
  aliases: { apiKey: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:x-retell-signature', pairs: { signature: 'd', timestamp: 'v' } },
    encoding: 'hex',
    signed: '{body}{timestamp}',
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  events: {
    // There is no event id. The body is the whole call at the time of the event.
    id: 'hash',
    type: 'json:event',
    reference: ['json:call.call_id', 'json:chat.chat_id'],
  },
  retryWindowMs: null,
  samples: sampleFile('retell'),
})
