import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Klarna Network. The push of the older Klarna Checkout is not signed and not supported. */
export const klarna = defineProvider({
  key: 'klarna',
  name: 'Klarna (Network webhooks)',
  docs: 'https://docs.klarna.com/klarna-network-distribution/setup-your-integration/connection-configuration/setup-your-webhooks/',
  confidence: 'likely',
  // unchecked: that the signature is in hex. Klarna-Signing-Key-Id names the key and is not read: all keys are tried.
  verify: hmacScheme({ signature: 'header:klarna-signature', encoding: 'hex' }),
  events: {
    id: 'json:metadata.event_id',
    type: 'json:metadata.event_type',
    reference: ['json:payload.payment_request_id', 'json:payload.payment_transaction_id'],
  },
  retryWindowMs: hours(22),
  keepHeaders: ['klarna-signing-key-id'],
  samples: sampleFile('klarna'),
})
