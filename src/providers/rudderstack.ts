import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const rudderstack = defineProvider({
  key: 'rudderstack',
  name: 'RudderStack (webhook destination)',
  docs: 'https://www.rudderstack.com/docs/destinations/webhooks/setup-guide/',
  confidence: 'verified',
  // Nothing is signed: add a header with a secret to the destination.
  verify: tokenScheme({ in: 'header:{option:header}' }),
  options: {
    header: {
      what: 'The custom header of the destination; the secret is its whole value',
      default: 'authorization',
      example: 'authorization',
    },
  },
  events: {
    id: 'json:messageId',
    type: 'json:type',
    reference: ['json:userId', 'json:anonymousId'],
  },
  retryWindowMs: null,
  samples: sampleFile('rudderstack'),
})
