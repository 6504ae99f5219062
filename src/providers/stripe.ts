import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
  samples: sampleFile('stripe'),
})
