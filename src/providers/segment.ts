import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'

/** One event per delivery. Of a batch Segment signs the first event only, so batches are refused: leave them off. */
export const segment = defineProvider({
  key: 'segment',
  name: 'Segment (webhooks destination)',
  docs: 'https://segment.com/docs/connections/destinations/catalog/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:x-signature', encoding: 'hex' }),
  events: {
    id: 'json:messageId',
    type: 'json:type',
    reference: ['json:userId', 'json:anonymousId'],
  },
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(5) },
  samples: {
    track: {
      messageId: '{id}',
      type: '{type}',
      event: 'Order Completed',
      userId: '97980cfea0067',
      properties: { order_id: '50314b8e9bcf', total: 27.5, currency: 'USD' },
      timestamp: '{now:iso}',
      receivedAt: '{now:iso}',
      version: 2,
    },
    identify: {
      messageId: '{id}',
      type: '{type}',
      userId: '97980cfea0067',
      traits: { email: 'peter@example.com', plan: 'premium' },
      timestamp: '{now:iso}',
      receivedAt: '{now:iso}',
      version: 2,
    },
  },
})
