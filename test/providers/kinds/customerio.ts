import type { Kinds } from 'hookonce/testing/contracts'

export const customerio: Kinds = [
  {
    name: 'an event of a message',
    docs: 'https://docs.customer.io/integrations/data-out/connections/webhooks/',
    body: {
      event_id: '01E4C4C6P79C12J5A6KPE6XNFD',
      object_type: 'email',
      metric: 'opened',
      timestamp: 1613063089,
      data: { customer_id: '0200102', delivery_id: 'RPILAgUBcRhIBqSfeiIwdIYJKxTY' },
    },
    events: ['email.opened'],
    another: { 'json:event_id': '01E4C4C6P79C12J5A6KPE6XNFE' },
  },
]
