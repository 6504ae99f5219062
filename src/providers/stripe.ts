import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'

export const stripe = defineProvider({
  key: 'stripe',
  name: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks',
  confidence: 'verified',
  aliases: { endpointSecret: 'secret', webhookSecret: 'secret', signingSecret: 'secret' },
  verify: hmacScheme({
    // The secret is used as shown, `whsec_` included. Schemes other than v1 are passed over: v0 is a test fake.
    signature: { in: 'header:stripe-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    // Thin (v2) events name their object apart from the data.
    reference: ['json:data.object.id', 'json:related_object.id'],
  },
  retryWindowMs: days(3),
  sampleId: 'evt_',
  samples: {
    'invoice.paid': {
      id: '{id}',
      object: 'event',
      api_version: '2024-06-20',
      created: '{now:s}',
      data: {
        object: {
          id: 'in_1PgafmB7WZ01zgkW6dKueIc5',
          object: 'invoice',
          amount_paid: 2000,
          currency: 'usd',
          customer: 'cus_QXg1o8vcGmoR32',
          status: 'paid',
        },
      },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type: '{type}',
    },
    'checkout.session.completed': {
      id: '{id}',
      object: 'event',
      api_version: '2024-06-20',
      created: '{now:s}',
      data: {
        object: {
          id: 'cs_test_a1B2c3D4e5F6g7H8',
          object: 'checkout.session',
          amount_total: 4900,
          currency: 'eur',
          payment_status: 'paid',
        },
      },
      livemode: false,
      pending_webhooks: 1,
      request: { id: 'req_8nRq4tYw', idempotency_key: '5f0f9d0e-4d5e-4c7b-9a57-0c1b8f0c2f11' },
      type: '{type}',
    },
  },
})
