import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const calcom = defineProvider({
  key: 'calcom',
  name: 'Cal.com',
  docs: 'https://cal.com/docs/core-features/webhooks',
  confidence: 'verified',
  // A webhook without a secret sends `no-secret-provided`, which is rejected.
  verify: hmacScheme({ signature: 'header:x-cal-signature-256', encoding: 'hex' }),
  events: {
    // There is no event id; createdAt, in milliseconds, distinguishes equal events.
    id: 'hash',
    type: 'json:triggerEvent',
    reference: ['json:payload.uid', 'json:uid'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-cal-webhook-version'],
  samples: sampleFile('calcom'),
})
