import type { Kinds } from 'hookonce/testing/contracts'

const item = {
  webhookId: 'ABcDEf',
  source: 'channel.message',
  serial: 'a7bcdEFghIjklm123456789:4',
  timestamp: 1656057474000,
}

export const ably: Kinds = [
  {
    name: 'a batch of messages, presence and channel events',
    docs: 'https://ably.com/docs/platform/integrations/webhooks/general#batched-event-payloads',
    body: {
      items: [
        {
          ...item,
          name: 'channel.message',
          data: { channelId: 'chat', messages: [{ id: 'ABcDEf:0', data: 'hi' }] },
        },
        {
          ...item,
          name: 'presence.message',
          data: { channelId: 'chat', presence: [{ id: 'x:0:0', action: 2 }] },
        },
        { ...item, name: 'channel.closed', data: { channelId: 'chat', status: 'CLOSED' } },
      ],
    },
    events: ['channel.message', 'presence.message', 'channel.closed'],
    another: [
      { 'json:items.0.serial': 'a7bcdEFghIjklm123456789:5' },
      { 'json:items.2.timestamp': 1656057474001 },
    ],
  },
  {
    name: 'a failed batch with a newer item added',
    body: { items: [{ ...item, name: 'channel.message', data: { channelId: 'chat' } }] },
    another: {
      body: {
        items: [
          { ...item, name: 'channel.message', data: { channelId: 'chat' } },
          {
            ...item,
            serial: 'a7bcdEFghIjklm123456789:6',
            name: 'channel.message',
            data: { channelId: 'chat' },
          },
        ],
      },
    },
  },
  {
    name: 'one enveloped message, without batching',
    docs: 'https://ably.com/docs/platform/integrations/webhooks/general#single-event-payloads',
    body: {
      source: 'channel.message',
      appId: 'aBCdEf',
      channel: 'chat',
      messages: [{ id: 'ABcDEf:0', data: 'hi' }],
    },
    another: { 'json:messages.0.id': 'ABcDEf:1' },
  },
]
