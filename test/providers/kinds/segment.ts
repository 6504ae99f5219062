import type { Kinds } from 'hookonce/testing/contracts'

const call = {
  messageId: 'ajs-1',
  type: 'track',
  event: 'Order Completed',
  userId: 'u1',
  timestamp: '2026-11-15T12:00:00.000Z',
}

export const segment: Kinds = [
  {
    name: 'a call',
    docs: 'https://segment.com/docs/connections/destinations/catalog/webhooks/',
    body: call,
    events: ['track.Order Completed'],
    another: [{ 'json:messageId': 'ajs-2' }, { 'json:event': 'Product Viewed' }],
  },
  {
    name: 'a payload mapped by the user, without a messageId',
    body: { email: 'ada@example.com', plan: 'pro' },
    another: { 'json:plan': 'free' },
    merged:
      'Without `messageId` in the mapping, two events with equal payloads count as one. Keep `messageId` in the mapping.',
  },
]
