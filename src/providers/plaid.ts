import { defineProvider, hours, join, jwtScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const plaid = defineProvider({
  key: 'plaid',
  name: 'Plaid',
  docs: 'https://plaid.com/docs/api/webhooks/webhook-verification/',
  confidence: 'verified',
  // getKey looks up a key by its id with the user's own API credentials (/webhook_verification_key/get).
  verify: jwtScheme({
    in: 'header:plaid-verification',
    algorithms: ['ES256'],
    issuedAt: {},
    bodyHash: { claim: 'request_body_sha256' },
    getKey: true,
  }),
  // unchecked: that one key signs for all clients; the token names none.
  sharedKey: {
    namedBy: null,
    note: 'Act only on Items, transfers and users that you know.',
  },
  // There is no event id, and most bodies say only that there is new data: equal bodies are different events. The time
  // of the signature distinguishes them. A retry has a new time and is handled again.
  events: {
    id: 'signed',
    type: join('.', 'json:webhook_type', 'json:webhook_code'),
    reference: [
      'json:item_id',
      'json:transfer_id',
      'json:identity_verification_id',
      'json:asset_report_id',
      'json:link_session_id',
      'json:user_id',
    ],
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('plaid'),
})
