import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const pusherBeams = defineProvider({
  key: 'pusherBeams',
  name: 'Pusher Beams',
  docs: 'https://pusher.com/docs/beams/concepts/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:webhook-signature', encoding: 'hex' }),
  // The same as the header Webhook-Request-ID-UUID, and signed.
  events: {
    id: 'json:metadata.event_id',
    type: 'json:metadata.event_type',
    reference: 'json:payload.publish_id',
  },
  // Four retries, the last 460 seconds after the first attempt.
  retryWindowMs: seconds(460),
  answer: { timeLimitMs: seconds(3) },
  sampleHeaders: { 'webhook-event-type': '{type}', 'webhook-request-id-uuid': '{id}' },
  samples: {
    'v1.PublishToUsersAttempt': {
      payload: { publish_id: 'pubid-33f3f68e-b0c5-438f-b50f-fae93f6c48df', users: ['user-001'] },
      metadata: { created_at: '{now:iso}', event_type: '{type}', event_id: '{id}', product: 'beams' },
      custom_data: {},
    },
    'v1.UserNotificationOpen': {
      payload: { publish_id: 'pubid-33f3f68e-b0c5-438f-b50f-fae93f6c48df', user_id: 'user-001' },
      metadata: { created_at: '{now:iso}', event_type: '{type}', event_id: '{id}', product: 'beams' },
      custom_data: {},
    },
  },
})
