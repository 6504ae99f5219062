import type { Kinds } from 'hookonce/testing/contracts'

export const pusher: Kinds = [
  {
    name: 'a channel that is occupied again and again',
    docs: 'https://pusher.com/docs/channels/server_api/webhooks/',
    body: { time_ms: 0, events: [{ name: 'channel_occupied', channel: 'test_channel' }] },
    events: ['channel_occupied'],
    another: [{ timestamp: 1 }, { 'json:events.0.channel': 'other' }],
  },
  {
    name: 'a batch with equal client events',
    body: {
      time_ms: 0,
      events: [
        { name: 'client_event', channel: 'c', event: 'client-typing', data: '{}', socket_id: '123.456' },
        { name: 'client_event', channel: 'c', event: 'client-typing', data: '{}', socket_id: '123.456' },
        { name: 'member_added', channel: 'presence-c', user_id: '1' },
      ],
    },
    events: ['client_event', 'client_event', 'member_added'],
    another: { 'json:events.2.user_id': '2' },
  },
]
