import type { Kinds } from 'hookonce/testing/contracts'

export const intercom: Kinds = [
  {
    name: 'a notification',
    docs: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
    body: {
      type: 'notification_event',
      id: 'notif_a1f5d3e0-0c6e-11eb-8a5d-3f2f0c0cf777',
      topic: 'conversation.user.replied',
      app_id: 'a86dr8yl',
      delivery_status: 'pending',
      delivery_attempts: 1,
      delivered_at: 0,
      first_sent_at: 1393613864,
      created_at: 1393613864,
      data: { type: 'notification_event_data', item: { type: 'conversation', id: '123' } },
    },
    events: ['conversation.user.replied'],
    redelivery: { 'json:delivery_attempts': 2, 'json:delivery_status': 'retry' },
    another: { 'json:id': 'notif_a1f5d3e0-0c6e-11eb-8a5d-3f2f0c0cf778' },
  },
  {
    name: 'the test of the endpoint',
    body: { type: 'notification_event', topic: 'ping', id: null },
    handshake: true,
  },
  { name: 'the check with HEAD', method: 'HEAD', handshake: 'unsigned' },
]
