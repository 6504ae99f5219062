import type { Kinds } from 'hookonce/testing/contracts'

export const chargebee: Kinds = [
  {
    name: 'an event',
    docs: 'https://apidocs.chargebee.com/docs/api/events',
    body: {
      id: 'ev_HtZEwNMS5SF6x1',
      occurred_at: 1702645601,
      event_type: 'subscription_renewed',
      webhook_status: 'scheduled',
      content: { subscription: { id: 'HtZEwNMS5SF6x0' } },
    },
    events: ['subscription_renewed'],
    redelivery: { 'json:webhook_status': 're_scheduled', 'json:webhook_failure_reason': 'Timeout' },
    another: { 'json:id': 'ev_HtZEwNMS5SF6x2' },
  },
]
