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
    // deliveryContext.isRedelivery is true on a retry.
    content: 'none',
  },
  // "Verify" in the console sends no events.
  handshakes: [{ when: { 'json:events': [] }, signed: true, reply: {} }],
  // Only if redelivery is enabled, for an undocumented time.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(2) },
  samples: sampleFile('line'),
})
