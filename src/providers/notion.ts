import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const notion = defineProvider({
  key: 'notion',
  name: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  confidence: 'verified',
  // The secret is the verification token of the first request (see below), not decoded.
  verify: hmacScheme({ signature: { in: 'header:x-notion-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    // The entity of a comment is the comment; its page is in the data.
    reference: ['json:data.page_id', 'json:entity.id'],
    // attempt_number changes with each attempt.
    content: 'none',
  },
  // A new subscription first posts its signing token, unsigned. It is acknowledged and not stored: the user copies it
  // from the request to the settings of Notion.
  handshakes: [{ when: { 'json:verification_token': true }, signed: false, reply: {} }],
  // unchecked: up to eight attempts, the last about a day after the first.
  retryWindowMs: hours(24),
  samples: sampleFile('notion'),
})
