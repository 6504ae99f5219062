import type { Kinds } from 'hookonce/testing/contracts'

const event = {
  type: 'message',
  message: { type: 'text', id: '14353798921116', text: 'Hello' },
  timestamp: 1625665242211,
  source: { type: 'user', userId: 'U80696558e1aa831' },
  webhookEventId: '01FZ74A0TDDPYRVKNK77XKC3ZR',
  deliveryContext: { isRedelivery: false },
}

export const line: Kinds = [
  {
    name: 'two events at once',
    body: {
      destination: 'xxxxxxxxxx',
      events: [event, { ...event, type: 'follow', webhookEventId: '01FZ74ASS536FW97EX38NKCZQK' }],
    },
    events: ['message', 'follow'],
    redelivery: { 'json:events.0.deliveryContext.isRedelivery': true },
    another: { 'json:events.0.webhookEventId': '01FZ74A0TDDPYRVKNK77XKC3ZS' },
  },
  { name: 'the check of the console', body: { destination: 'xxxxxxxxxx', events: [] }, handshake: true },
]
