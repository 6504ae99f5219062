import type { Kinds } from 'hookonce/testing/contracts'

export const cloudflareNotifications: Kinds = [
  {
    name: 'an alert',
    docs: 'https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/',
    body: {
      name: 'Health checks',
      text: 'Health check is unhealthy',
      data: { status: 'Unhealthy' },
      ts: 1710342253,
      account_id: 'abc',
      policy_id: '21d6d3e6',
      alert_type: 'load_balancing_health_alert',
      alert_correlation_id: '7d5e',
      alert_event: 'ALERT_STATE_EVENT_START',
    },
    events: ['load_balancing_health_alert'],
    another: [{ 'json:ts': 1710342254 }, { 'json:alert_event': 'ALERT_STATE_EVENT_END' }],
  },
  {
    name: 'a test',
    body: { text: 'Hello World! This is a test message sent from https://cloudflare.com.' },
    merged: 'A test message has no id and no time. A second test counts as a redelivery of the first.',
  },
]
