import type { Kinds } from 'hookonce/testing/contracts'

export const gocardless: Kinds = [
  {
    name: 'a batch of events',
    docs: 'https://developer.gocardless.com/api-reference/#appendix-webhooks',
    body: {
      events: [
        { id: 'EV123', resource_type: 'payments', action: 'confirmed', links: { payment: 'PM123' } },
        { id: 'EV124', resource_type: 'payments', action: 'paid_out', links: { payment: 'PM123' } },
        { id: 'EV125', resource_type: 'mandates', action: 'cancelled', links: { mandate: 'MD123' } },
      ],
      meta: { webhook_id: 'WB123' },
    },
    events: ['payments.confirmed', 'payments.paid_out', 'mandates.cancelled'],
    redelivery: { 'json:meta.webhook_id': 'WB124' },
    another: { 'json:events.2.id': 'EV126' },
  },
]
