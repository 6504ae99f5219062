import { defineProvider, join, optional, tokenScheme } from '../verification/define-provider.js'
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
    // The SDK in the browser or app makes it.
    id: 'json:messageId',
    idFromOutside: true,
    // `track.Order Completed`
    type: join('.', 'json:type', optional('json:event')),
    reference: ['json:userId', 'json:anonymousId'],
  },
  typeSeparator: '.',
  retryWindowMs: null,
  samples: sampleFile('rudderstack'),
})
