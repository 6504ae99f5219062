import type { Kinds } from 'hookonce/testing/contracts'

export const rudderstack: Kinds = [
  {
    name: 'an event of a source',
    body: {
      type: 'track',
      event: 'Order Completed',
      messageId: '6c7d1f5a-1',
      userId: 'user-42',
      properties: {},
    },
    events: ['track.Order Completed'],
    another: [{ 'json:messageId': '6c7d1f5a-2' }, { 'json:event': 'Product Viewed' }],
  },
  {
    name: 'an event of an anonymous user',
    body: { type: 'page', messageId: '6c7d1f5a-3', anonymousId: '21e13f4bc7ceddad' },
    events: ['page'],
    another: { 'json:messageId': '6c7d1f5a-4' },
  },
]
