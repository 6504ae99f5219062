import type { Kinds } from 'hookonce/testing/contracts'

export const close: Kinds = [
  {
    name: 'an event',
    docs: 'https://developer.close.com/topics/webhooks/',
    body: {
      subscription_id: 'whsub_123',
      event: {
        id: 'ev_67',
        object_type: 'lead',
        action: 'updated',
        object_id: 'lead_1',
        date_created: '2019-01-15T12:48:23.395000',
      },
    },
    events: ['lead.updated'],
    another: { 'json:event.id': 'ev_68' },
  },
]
