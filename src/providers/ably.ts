import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
  samples: sampleFile('ably'),
})
