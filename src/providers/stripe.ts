import { choose, days, defineProvider, type Field, hmacScheme } from '../verification/define-provider.js'
import { stripeList } from './lists/stripe.js'
import { sampleFile } from './sample.js'

/** An event about the object itself has its id as `data.object.id`, others link it. A link may be expanded to an object. */
const objectOf = (name: string): Field[] => [
  choose('json:data.object.object', { [name]: 'json:data.object.id' }),
  `json:data.object.${name}`,
  `json:data.object.${name}.id`,
  choose('json:related_object.type', { [name]: 'json:related_object.id' }),
]

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
    secret: { apiKey: /^[srp]k_(test|live)_/ },
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    // A thin (v2) event has the id of its object outside the data.
    reference: ['json:data.object.id', 'json:related_object.id'],
    // Disputes and refunds have only the charge and the payment intent.
    references: {
      customer: objectOf('customer'),
      invoice: objectOf('invoice'),
      subscription: [
        ...objectOf('subscription'),
        // Since the API of March 2025.
        'json:data.object.parent.subscription_details.subscription',
        'json:data.object.parent.subscription_details.subscription.id',
      ],
      payment_intent: objectOf('payment_intent'),
      charge: objectOf('charge'),
    },
  },
  retryWindowMs: days(3),
  list: stripeList,
  disables: {
    when: 'disables an endpoint that has failed for several days, and writes an email before',
    again: 'Enable it in the Stripe Dashboard, Workbench, Webhooks.',
    docs: 'https://docs.stripe.com/webhooks',
    confidence: 'likely',
  },
  sampleId: 'evt_',
  samples: sampleFile('stripe'),
})
