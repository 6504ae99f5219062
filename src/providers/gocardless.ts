import { defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'
import { gocardlessList } from './lists/gocardless.js'
import { sampleFile } from './sample.js'

export const gocardless = defineProvider({
  key: 'gocardless',
  name: 'GoCardless',
  docs: 'https://developer.gocardless.com/getting-started/api/staying-up-to-date-with-webhooks/',
  confidence: 'verified',
  // The header has the name of Standard Webhooks, but another signature.
  verify: hmacScheme({ signature: 'header:webhook-signature', encoding: 'hex' }),
  // Up to 250 events in one request, retried together. meta.webhook_id is the id of the request.
  events: {
    each: 'events[]',
    id: 'json:id',
    type: join('.', 'json:resource_type', 'json:action'),
    // An event of a payment also links its subscription, mandate or payout: the most specific one is first.
    reference: [
      'json:links.refund',
      'json:links.payment',
      'json:links.payout',
      'json:links.subscription',
      'json:links.instalment_schedule',
      'json:links.billing_request',
      'json:links.mandate',
      'json:links.*',
    ],
    references: {
      customer: 'json:links.customer',
      mandate: 'json:links.mandate',
      payment: 'json:links.payment',
      subscription: 'json:links.subscription',
      payout: 'json:links.payout',
    },
  },
  retryWindowMs: null,
  list: gocardlessList,
  answer: { timeLimitMs: seconds(10) },
  sampleId: 'EV',
  samples: sampleFile('gocardless'),
})
