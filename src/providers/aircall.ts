import { defineProvider, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const aircall = defineProvider({
  key: 'aircall',
  name: 'Aircall',
  docs: 'https://developer.aircall.io/tutorials/webhooks-guide/',
  confidence: 'verified',
  // Every body has the token that Aircall created with the webhook; nothing is signed.
  verify: tokenScheme({ in: 'json:token' }),
  // There is no event id, and the time is in seconds: only the whole body distinguishes two changes of one call.
  events: { id: 'hash', type: 'json:event', reference: 'json:data.id' },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(5), httpStatus: 200 },
  sampleId: 'number',
  samples: sampleFile('aircall'),
})
