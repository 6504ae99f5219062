import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const pagerduty = defineProvider({
  key: 'pagerduty',
  name: 'PagerDuty (v3)',
  docs: 'https://developer.pagerduty.com/docs/webhooks/webhook-behavior/',
  confidence: 'verified',
  verify: hmacScheme({
    // Several signatures during the rotation of a secret.
    signature: { in: 'header:x-pagerduty-signature', prefix: 'v1=', separator: ',' },
    encoding: 'hex',
  }),
  // X-Webhook-Id is also the same on retries, but it is not signed and differs for each subscription.
  events: {
    id: 'json:event.id',
    type: 'json:event.event_type',
    reference: ['json:event.data.incident.id', 'json:event.data.id'],
  },
  retryWindowMs: hours(48),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-webhook-id', 'x-webhook-subscription'],
  sampleHeaders: { 'x-webhook-id': 'e1a25b04-bc5e-4c6b-b6b3-3c5bb0e4cb5c' },
  samples: sampleFile('pagerduty'),
})
