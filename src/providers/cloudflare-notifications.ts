import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const cloudflareNotifications = defineProvider({
  key: 'cloudflareNotifications',
  name: 'Cloudflare Notifications',
  docs: 'https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/',
  confidence: 'verified',
  // The secret typed in with the destination comes back verbatim; the body is not signed.
  verify: tokenScheme({ in: 'header:cf-webhook-auth' }),
  events: {
    // No event id: alert_correlation_id is shared by the start and the end of an incident. `ts` is the time the
    // notification was made, in seconds. "Save and Test" sends a text and nothing else: its type is unknown.
    id: 'hash',
    type: 'json:alert_type',
    reference: ['json:alert_correlation_id', 'json:policy_id'],
  },
  retryWindowMs: null,
  samples: sampleFile('cloudflare-notifications'),
})
