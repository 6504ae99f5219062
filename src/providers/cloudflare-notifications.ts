import { defineProvider, tokenScheme } from '../verification/define-provider.js'

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
  samples: {
    health_check_status_notification: {
      name: 'Origin health',
      text: 'Health check of origin-1 changed to unhealthy',
      data: { name: 'origin-1', status: 'unhealthy', reason: 'TCP connection failed' },
      ts: '{now:s}',
      account_id: '023e105f4ecef8ad9ca31a8372d0c353',
      policy_id: 'f174e90afafe4643bbbc4a0ed4fc8415',
      policy_name: 'Origin health',
      alert_type: 'health_check_status_notification',
      alert_correlation_id: '{id}',
      alert_event: 'ALERT_STATE_EVENT_START',
    },
    http_alert_origin_error: {
      name: 'Origin errors',
      text: 'Error rate of example.com is above the limit',
      data: { zone_name: 'example.com', limit: 0.95 },
      ts: '{now:s}',
      account_id: '023e105f4ecef8ad9ca31a8372d0c353',
      policy_id: '0da2b59ef118439d8097bdfb215203c9',
      policy_name: 'Origin errors',
      alert_type: 'http_alert_origin_error',
      alert_correlation_id: '{id}',
      alert_event: 'ALERT_STATE_EVENT_START',
    },
  },
})
