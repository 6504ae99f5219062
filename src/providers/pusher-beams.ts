import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const pusherBeams = defineProvider({
  key: 'pusherBeams',
  name: 'Pusher Beams',
  docs: 'https://pusher.com/docs/beams/concepts/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:webhook-signature', encoding: 'hex' }),
  // It equals the header Webhook-Request-ID-UUID, and is signed.
  events: {
    id: 'json:metadata.event_id',
    type: 'json:metadata.event_type',
    reference: 'json:payload.publish_id',
  },
  // Four retries, the last 460 seconds after the first attempt.
  retryWindowMs: seconds(460),
  answer: { timeLimitMs: seconds(3) },
  sampleHeaders: { 'webhook-event-type': '{type}', 'webhook-request-id-uuid': '{id}' },
  samples: sampleFile('pusher-beams'),
})
