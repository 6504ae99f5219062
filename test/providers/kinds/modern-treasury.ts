import type { Kinds } from 'hookonce/testing/contracts'

export const modernTreasury: Kinds = [
  {
    name: 'a completed payment order',
    docs: 'https://docs.moderntreasury.com/platform/reference/payment-orders',
    headers: { 'x-webhook-id': '6e6a8d5e-0000-4000-8000-000000000001', 'x-topic': 'payment_order' },
    body: { event: 'completed', data: { id: 'c725a8c9', object: 'payment_order', status: 'completed' } },
    events: ['payment_order.completed'],
    another: { 'header:x-webhook-id': '6e6a8d5e-0000-4000-8000-000000000002' },
  },
]
