import type { Kinds } from 'hookonce/testing/contracts'

export const razorpay: Kinds = [
  {
    name: 'a payment',
    headers: { 'x-razorpay-event-id': 'DESlfW9H8K9uqM' },
    body: {
      entity: 'event',
      event: 'payment.captured',
      contains: ['payment'],
      payload: { payment: { entity: { id: 'pay_DESlfW9H8K9uqM' } } },
      created_at: 1567674606,
    },
    events: ['payment.captured'],
    another: { 'header:x-razorpay-event-id': 'DESlfW9H8K9uqN' },
  },
  {
    name: 'an order with its payment',
    headers: { 'x-razorpay-event-id': 'DESlfW9H8K9uqP' },
    body: {
      entity: 'event',
      event: 'order.paid',
      contains: ['payment', 'order'],
      payload: { payment: { entity: { id: 'pay_1' } }, order: { entity: { id: 'order_1' } } },
      created_at: 1567674606,
    },
    events: ['order.paid'],
    another: { 'header:x-razorpay-event-id': 'DESlfW9H8K9uqQ' },
  },
]
