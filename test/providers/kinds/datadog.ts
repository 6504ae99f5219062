import type { Kinds } from 'hookonce/testing/contracts'

export const datadog: Kinds = [
  {
    name: 'an alert, by the default template',
    docs: 'https://docs.datadoghq.com/integrations/webhooks/',
    body: {
      id: '2829300563286430711',
      last_updated: '1447080117000',
      event_type: 'query_alert_monitor',
      title: '[Triggered] CPU is high',
      date: '1447080117000',
      alert_id: '1234',
    },
    events: ['query_alert_monitor'],
    another: { 'json:id': '2829300563286430712' },
  },
]
