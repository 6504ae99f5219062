import { defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'

export const intercom = defineProvider({
  key: 'intercom',
  name: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The secret is the app's client secret.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: { in: 'header:x-hub-signature', prefix: 'sha1=' },
    encoding: 'hex',
  }),
  events: {
    id: 'json:id',
    type: 'json:topic',
    reference: 'json:data.item.id',
    // delivery_attempts counts up.
    content: 'none',
  },
  handshakes: [
    // The URL is tried out before it is saved.
    { when: { method: 'HEAD' }, signed: false, reply: {} },
    // On registration; its id is null.
    { when: { 'json:topic': 'ping' }, signed: true, reply: {} },
  ],
  // unchecked: one retry, after a minute.
  retryWindowMs: minutes(6),
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'notif_',
  samples: {
    'conversation.user.created': {
      type: 'notification_event',
      app_id: 'a86dr8yl',
      topic: 'conversation.user.created',
      id: '{id}',
      created_at: '{now:s}',
      delivery_attempts: 1,
      delivered_at: 0,
      first_sent_at: '{now:s}',
      data: {
        type: 'notification_event_data',
        item: { type: 'conversation', id: '147', state: 'open', created_at: '{now:s}' },
      },
    },
    'contact.user.created': {
      type: 'notification_event',
      app_id: 'a86dr8yl',
      topic: 'contact.user.created',
      id: '{id}',
      created_at: '{now:s}',
      delivery_attempts: 1,
      delivered_at: 0,
      first_sent_at: '{now:s}',
      data: {
        type: 'notification_event_data',
        item: { type: 'contact', id: '64c0dc4e8a1f2b', role: 'user', email: 'jane@example.com' },
      },
    },
  },
})
