import { defineProvider, tokenScheme } from '../verification/define-provider.js'

export const rudderstack = defineProvider({
  key: 'rudderstack',
  name: 'RudderStack (webhook destination)',
  docs: 'https://www.rudderstack.com/docs/destinations/webhooks/setup-guide/',
  confidence: 'verified',
  // It signs nothing: add a header with a secret to the destination.
  verify: tokenScheme({ in: 'header:{option:header}' }),
  options: {
    header: {
      what: 'The header set in the destination; the secret is its whole value',
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
  samples: {
    track: {
      type: 'track',
      event: 'Order Completed',
      messageId: '{id}',
      userId: 'user-42',
      anonymousId: '21e13f4bc7ceddad',
      channel: 'web',
      properties: { order_id: 'o-1001', revenue: 42.5 },
      originalTimestamp: '{now:iso}',
    },
    identify: {
      type: 'identify',
      messageId: '{id}',
      userId: 'user-42',
      context: { traits: { email: 'alex@example.com' } },
      originalTimestamp: '{now:iso}',
    },
  },
})
