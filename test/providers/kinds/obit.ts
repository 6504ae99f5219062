import type { Kinds } from 'hookonce/testing/contracts'

export const obit: Kinds = [
  {
    name: 'an event',
    headers: { 'webhook-id': 'msg_1' },
    body: { id: 'evt_1', type: 'payment.completed', data: { id: 'pay_501' } },
    events: ['payment.completed'],
    another: { 'json:id': 'evt_2' },
  },
]
