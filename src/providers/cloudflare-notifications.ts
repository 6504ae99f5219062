import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const cloudflareNotifications = defineProvider({
  key: 'cloudflareNotifications',
  name: 'Cloudflare Notifications',
  docs: 'https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/',
  confidence: 'verified',
  // Every delivery has the secret of the destination in clear; the body is not signed.
  verify: tokenScheme({ in: 'header:cf-webhook-auth' }),
  events: {
    // There is no event id: the start and the end of an incident share alert_correlation_id. `ts` is the time of the
    // notification in seconds. "Save and Test" sends only a text: its type is unknown.
    id: 'hash',
    type: 'json:alert_type',
    reference: ['json:alert_correlation_id', 'json:policy_id'],
  },
  retryWindowMs: null,
  samples: sampleFile('cloudflare-notifications'),
})
