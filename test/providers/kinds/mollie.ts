import type { Kinds } from 'hookonce/testing/contracts'

export const mollie: Kinds = [
  {
    name: 'an event',
    body: {
      resource: 'event',
      id: 'event_GvJ8WHrp5isUdRub9CJyH',
      type: 'payment-link.paid',
      entityId: 'pl_qng5gbbv8NAZ5gpM5ZYgx',
    },
    events: ['payment-link.paid'],
    another: { 'json:id': 'event_GvJ8WHrp5isUdRub9CJyJ' },
  },
  {
    name: 'the ping of a webhook',
    docs: 'https://docs.mollie.com/reference/test-webhook',
    body: { resource: 'event', id: 'event_ping1', type: 'hook.ping', entityId: 'hook_1' },
    events: ['hook.ping'],
    another: { 'json:id': 'event_ping2' },
  },
]
