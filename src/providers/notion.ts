import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const notion = defineProvider({
  key: 'notion',
  name: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  confidence: 'verified',
  // The secret is the verification token of the first request (see below), used as it is.
  verify: hmacScheme({ signature: { in: 'header:x-notion-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: 'json:entity.id',
    // attempt_number counts up.
    content: 'none',
  },
  // A new subscription first posts the token it will sign with, itself unsigned. It is acknowledged and not kept:
  // whoever sets the subscription up reads it off the request and pastes it into Notion's settings.
  handshakes: [{ when: { 'json:verification_token': true }, signed: false, reply: {} }],
  // unchecked: up to eight attempts, the last about a day after the first.
  retryWindowMs: hours(24),
  samples: sampleFile('notion'),
})
