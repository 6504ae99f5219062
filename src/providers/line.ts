import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const line = defineProvider({
  key: 'line',
  name: 'LINE Messaging API',
  docs: 'https://developers.line.biz/en/docs/messaging-api/receiving-messages/',
  confidence: 'verified',
  aliases: { channelSecret: 'secret' },
  verify: hmacScheme({ signature: 'header:x-line-signature', encoding: 'base64' }),
  events: {
    each: 'events[]',
    id: 'json:webhookEventId',
    type: 'json:type',
    reference: ['json:source.groupId', 'json:source.roomId', 'json:source.userId'],
    // deliveryContext.isRedelivery is true the second time.
    content: 'none',
  },
  // The console's "Verify" sends no events.
  handshakes: [{ when: { 'json:events': [] }, signed: true, reply: {} }],
  // Only where redelivery is switched on; LINE does not say how long.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(2) },
  samples: {
    message: {
      destination: 'xxxxxxxxxx',
      events: [
        {
          type: 'message',
          message: { type: 'text', id: '14353798921116', text: 'Hello, world' },
          timestamp: '{now:ms}',
          source: { type: 'user', userId: 'U80696558e1aa831' },
          replyToken: '757913772c4646b784d4b7ce46d12671',
          mode: 'active',
          webhookEventId: '{id}',
          deliveryContext: { isRedelivery: false },
        },
        {
          type: 'unsend',
          unsend: { messageId: '325708' },
          timestamp: '{now:ms}',
          source: { type: 'group', groupId: 'Ca56f94637c', userId: 'U4af4980629' },
          mode: 'active',
          webhookEventId: '{id}-2',
          deliveryContext: { isRedelivery: false },
        },
      ],
    },
    follow: {
      destination: 'xxxxxxxxxx',
      events: [
        {
          type: 'follow',
          timestamp: '{now:ms}',
          source: { type: 'user', userId: 'U4af4980629' },
          replyToken: '85cbe770fa8b4f45bbe077b1d4be4a36',
          mode: 'active',
          webhookEventId: '{id}',
          deliveryContext: { isRedelivery: false },
          follow: { isUnblocked: false },
        },
      ],
    },
  },
})
