import type { Kinds } from 'hookonce/testing/contracts'

export const hookmesh: Kinds = [
  {
    name: 'an event',
    body: {
      event_id: 'evt_1',
      event_type: 'order.created',
      payload: { id: 'ord_123' },
      timestamp: '2026-01-01T00:00:00Z',
    },
    events: ['order.created'],
    another: { 'json:event_id': 'evt_2' },
  },
]
