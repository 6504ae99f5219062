import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const sanity = defineProvider({
  key: 'sanity',
  name: 'Sanity',
  docs: 'https://www.sanity.io/docs/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:sanity-webhook-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'base64url',
    signed: '{timestamp}.{body}',
    // Its own library does not compare it with the clock.
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  // The values that identify the event are in headers, which are not signed; a projection defines the body.
  events: {
    id: 'header:idempotency-key',
    type: 'header:sanity-operation',
    reference: 'header:sanity-document-id',
  },
  // A projection such as `{_id}` gives equal bodies for different changes.
  contentGuard: 'accept',
  // Two retries half a minute apart; until April 2026 over half an hour.
  retryWindowMs: minutes(30),
  keepHeaders: [
    'sanity-transaction-id',
    'sanity-transaction-time',
    'sanity-document-id',
    'sanity-operation',
    'sanity-dataset',
    'sanity-project-id',
  ],
  sampleHeaders: {
    'sanity-transaction-id': 'IhRNa5sRMJl2E1Ccso2m8V',
    'sanity-document-id': '3d3d5d9e-7e5a-4c3b-9d0f-1c3c0a1f6b2a',
    'sanity-dataset': 'production',
    'sanity-project-id': 'abc12345',
  },
  samples: sampleFile('sanity'),
})
