import type { Kinds } from 'hookonce/testing/contracts'

export const lemonSqueezy: Kinds = [
  {
    name: 'a changed subscription',
    headers: { 'x-event-name': 'subscription_updated' },
    body: {
      meta: { event_name: 'subscription_updated', custom_data: { user_id: '1' } },
      data: {
        type: 'subscriptions',
        id: '7',
        attributes: { status: 'active', updated_at: '2021-08-11T13:47:29.000000Z' },
      },
    },
    events: ['subscription_updated'],
    another: [
      { 'json:data.attributes.updated_at': '2021-08-11T13:47:30.000000Z' },
      // The same change under another event name.
      { 'json:meta.event_name': 'subscription_resumed' },
    ],
  },
  {
    name: 'an order',
    headers: { 'x-event-name': 'order_created' },
    body: {
      meta: { event_name: 'order_created' },
      data: { type: 'orders', id: '1', attributes: { order_number: 1 } },
    },
    events: ['order_created'],
    another: { 'json:data.id': '2' },
  },
]
