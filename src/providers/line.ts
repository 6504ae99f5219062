import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
  samples: sampleFile('line'),
})
