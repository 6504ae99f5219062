import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const stripe = defineProvider({
  key: 'stripe',
  name: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks',
  confidence: 'verified',
  aliases: { endpointSecret: 'secret', webhookSecret: 'secret', signingSecret: 'secret' },
  verify: hmacScheme({
    // The secret includes its prefix `whsec_`. Only v1 is read: v0 is a fake signature for tests.
    signature: { in: 'header:stripe-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    // A thin (v2) event has the id of its object outside the data.
    reference: ['json:data.object.id', 'json:related_object.id'],
  },
  retryWindowMs: days(3),
  sampleId: 'evt_',
  samples: sampleFile('stripe'),
})
