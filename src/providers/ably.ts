import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Batched webhooks. Single requests are not signed and are rejected. */
export const ably = defineProvider({
  key: 'ably',
  name: 'Ably (batched webhooks)',
  docs: 'https://ably.com/docs/platform/integrations/webhooks',
  confidence: 'verified',
  // The secret is the text after the colon of the API key. x-ably-key has the name of the key and is not needed.
  verify: hmacScheme({ signature: 'header:x-ably-signature', encoding: 'base64' }),
  events: {
    // A failed batch is sent again with newer items added, so each item is an event. An item has its time and serial:
    // equal bytes are the same item. unchecked: that the serial alone is unique.
    each: 'items[]',
    id: 'hash',
    type: ['json:name', 'json:source'],
    reference: 'json:data.channelId',
  },
  retryWindowMs: minutes(5),
  sampleHeaders: { 'x-ably-version': '1.2', 'x-ably-key': 'xVLyHw.LMJZxw' },
  samples: sampleFile('ably'),
})
