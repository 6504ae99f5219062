import { defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'

export const gocardless = defineProvider({
  key: 'gocardless',
  name: 'GoCardless',
  docs: 'https://developer.gocardless.com/getting-started/api/staying-up-to-date-with-webhooks/',
  confidence: 'verified',
  // The header's name is that of Standard Webhooks, the signature is not.
  verify: hmacScheme({ signature: 'header:webhook-signature', encoding: 'hex' }),
  // Up to 250 events in one request, retried together. meta.webhook_id is the request's.
  events: {
    each: 'events[]',
    id: 'json:id',
    type: join('.', 'json:resource_type', 'json:action'),
    // A payment's event also links its subscription, mandate or payout: the most particular comes first.
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
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  sampleId: 'EV',
  samples: {
    'payments.confirmed': {
      events: [
        {
          id: '{id}',
          created_at: '{now:iso}',
          resource_type: 'payments',
          action: 'confirmed',
          links: { payment: 'PM00001078ZJJN' },
          details: { origin: 'gocardless', cause: 'payment_confirmed', description: 'Confirmed.' },
          metadata: {},
        },
        {
          id: '{id}B',
          created_at: '{now:iso}',
          resource_type: 'payouts',
          action: 'paid',
          links: { payout: 'PO00004GMQ1YF0' },
          details: { origin: 'gocardless', cause: 'payout_paid', description: 'Paid out.' },
          metadata: {},
        },
      ],
      meta: { webhook_id: 'WB00001234' },
    },
    'mandates.cancelled': {
      events: [
        {
          id: '{id}',
          created_at: '{now:iso}',
          resource_type: 'mandates',
          action: 'cancelled',
          links: { mandate: 'MD000126', organisation: 'OR00003E8ZS0B0' },
          details: {
            origin: 'bank',
            cause: 'bank_account_disabled',
            scheme: 'bacs',
            reason_code: 'ADDACS-B',
          },
          metadata: {},
        },
      ],
      meta: { webhook_id: 'WB00001235' },
    },
  },
})
