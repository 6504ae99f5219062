import type { Kinds } from 'hookonce/testing/contracts'

export const polar: Kinds = [
  {
    name: 'an order',
    headers: { 'webhook-id': '5c3d1a1e-0000-4000-8000-000000000001' },
    body: { type: 'order.paid', data: { id: '57107b74-8400-4d80-a2fc-54c2b4239cb3', status: 'paid' } },
    events: ['order.paid'],
    another: { 'header:webhook-id': '5c3d1a1e-0000-4000-8000-000000000002' },
  },
]
