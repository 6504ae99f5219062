import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Application webhooks. The older rule webhooks sign only the body, with SHA-1, and are not supported. */
export const front = defineProvider({
  key: 'front',
  name: 'Front (application webhooks)',
  docs: 'https://dev.frontapp.com/docs/webhooks-1',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:x-front-signature',
    encoding: 'base64',
    signed: '{timestamp}:{body}',
    // Milliseconds; an older version of the documentation says seconds.
    timestamp: { in: 'header:x-front-request-timestamp', unit: 'ms' },
  }),
  events: { id: 'json:payload.id', type: 'json:type', reference: 'json:payload.conversation.id' },
  handshakes: [
    {
      when: { 'json:type': 'sync', 'header:x-front-challenge': true },
      signed: true,
      reply: { text: '{header:x-front-challenge}' },
    },
  ],
  // Up to three retries, at undocumented times.
  retryWindowMs: null,
  sampleId: 'evt_',
  samples: sampleFile('front'),
})
