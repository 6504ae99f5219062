import type { Kinds } from 'hookonce/testing/contracts'

export const klarna: Kinds = [
  {
    name: 'a payment request that changed its state',
    body: {
      metadata: { event_type: 'payment.request.state-change.completed', event_id: 'd9f9b1a0-1' },
      payload: { payment_request_id: 'krn:payment:eu1:request:552603c0', state: 'COMPLETED' },
    },
    events: ['payment.request.state-change.completed'],
    another: { 'json:metadata.event_id': 'd9f9b1a0-2' },
  },
]
