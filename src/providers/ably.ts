import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'

/** Batched webhooks. Single requests are not signed and are refused. */
export const ably = defineProvider({
  key: 'ably',
  name: 'Ably (batched webhooks)',
  docs: 'https://ably.com/docs/platform/integrations/webhooks',
  confidence: 'verified',
  // The secret is what follows the colon of the API key; x-ably-key says which key, and is not needed.
  verify: hmacScheme({ signature: 'header:x-ably-signature', encoding: 'base64' }),
  events: {
    // A failed batch comes again with newer items added, so each item stands for itself. Its time and serial are in
    // it: equal bytes are the same item. unchecked: that the serial alone is unique.
    each: 'items[]',
    id: 'hash',
    type: ['json:name', 'json:source'],
    reference: 'json:data.channelId',
  },
  retryWindowMs: minutes(5),
  sampleHeaders: { 'x-ably-version': '1.2', 'x-ably-key': 'xVLyHw.LMJZxw' },
  samples: {
    'channel.message': {
      items: [
        {
          webhookId: 'ABcDEf',
          source: 'channel.message',
          serial: 'a7bcdEFghIjklm123456789:4',
          timestamp: '{now:ms}',
          name: 'channel.message',
          data: {
            channelId: 'chat-channel-4',
            site: 'eu-west-1-A',
            messages: [
              { id: '{id}:1:0', clientId: 'user-3', timestamp: '{now:ms}', data: 'the message data' },
            ],
          },
        },
        {
          webhookId: 'ABcDEf',
          source: 'channel.presence',
          serial: 'a7bcdEFghIjklm123456789:5',
          timestamp: '{now:ms}',
          name: 'presence.message',
          data: {
            channelId: 'education-channel',
            site: 'eu-west-1-A',
            presence: [{ id: '{id}:2:0', clientId: 'bob', timestamp: '{now:ms}', action: 4 }],
          },
        },
      ],
    },
    'channel.opened': {
      items: [
        {
          webhookId: 'ABcDEf',
          source: 'channel.lifecycle',
          timestamp: '{now:ms}',
          serial: '{id}:4',
          name: 'channel.opened',
          data: { channelId: 'chat-channel-5', name: 'chat-channel-5', status: { isActive: true } },
        },
      ],
    },
  },
})
