import type { Kinds } from 'hookonce/testing/contracts'

export const coinbaseCommerce: Kinds = [
  {
    name: 'an event of a charge',
    body: {
      attempt_number: 1,
      event: {
        api_version: '2018-03-22',
        created_at: '2017-01-31T20:49:02Z',
        data: { code: '66BEOV2A', id: '6183ee2d' },
        id: '24934862-d980-46cb-9402-43c81b0cdba6',
        resource: 'event',
        type: 'charge:created',
      },
      id: 1,
      scheduled_for: '2017-01-31T20:50:02Z',
    },
    events: ['charge:created'],
    redelivery: { 'json:attempt_number': 2, 'json:id': 2, 'json:scheduled_for': '2017-01-31T20:52:02Z' },
    another: { 'json:event.id': '34934862-d980-46cb-9402-43c81b0cdba6' },
  },
]
