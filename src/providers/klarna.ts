import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'

/** Klarna Network. The push of the older Klarna Checkout is unsigned and another kind. */
export const klarna = defineProvider({
  key: 'klarna',
  name: 'Klarna (Network webhooks)',
  docs: 'https://docs.klarna.com/klarna-network-distribution/setup-your-integration/connection-configuration/setup-your-webhooks/',
  confidence: 'likely',
  // unchecked: that the signature is written in hex. Klarna-Signing-Key-Id says which key; of those given any may match.
  verify: hmacScheme({ signature: 'header:klarna-signature', encoding: 'hex' }),
  events: {
    id: 'json:metadata.event_id',
    type: 'json:metadata.event_type',
    reference: ['json:payload.payment_request_id', 'json:payload.payment_transaction_id'],
  },
  retryWindowMs: hours(22),
  keepHeaders: ['klarna-signing-key-id'],
  samples: {
    'payment.request.state-change.completed': {
      metadata: {
        event_type: '{type}',
        event_id: '{id}',
        event_version: 'v2',
        occurred_at: '{now:iso}',
        webhook_id: 'krn:partner:global:notification:webhook:120e5b7e-abcd-4def-8a90-dca726e639b5',
        live: false,
      },
      payload: {
        payment_request_id: 'krn:payment:eu1:request:552603c0-fe8b-4ab1-aacb-41d55fafbdb4',
        state: 'COMPLETED',
        previous_state: 'AUTHORIZED',
      },
    },
    'payment.request.state-change.canceled': {
      metadata: {
        event_type: '{type}',
        event_id: '{id}',
        event_version: 'v2',
        occurred_at: '{now:iso}',
        webhook_id: 'krn:partner:global:notification:webhook:120e5b7e-abcd-4def-8a90-dca726e639b5',
        live: false,
      },
      payload: {
        payment_request_id: 'krn:payment:eu1:request:552603c0-fe8b-4ab1-aacb-41d55fafbdb4',
        state: 'CANCELED',
        previous_state: 'SUBMITTED',
      },
    },
  },
})
