import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'

export const checkoutCom = defineProvider({
  key: 'checkoutCom',
  name: 'Checkout.com',
  docs: 'https://www.checkout.com/docs/developer-resources/event-notifications/receive-webhooks',
  confidence: 'likely',
  // The secret is the signature key of the webhook action; on older accounts, the account's secret key.
  verify: hmacScheme({ signature: 'header:cko-signature', encoding: 'hex' }),
  events: { id: 'json:id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: hours(30),
  answer: { timeLimitMs: seconds(10) },
  sampleId: 'evt_',
  samples: {
    payment_approved: {
      id: '{id}',
      type: 'payment_approved',
      version: '1.0.29',
      created_on: '{now:iso}',
      data: {
        id: 'pay_griq7wyqkggu7mnk7ecm6ysrl4',
        action_id: 'act_gl5cpqgccxeulozrvaassd4lta',
        reference: 'ORD-5023-4E89',
        amount: 2000,
        currency: 'USD',
        response_code: '10000',
        response_summary: 'Approved',
      },
    },
    dispute_received: {
      id: '{id}',
      type: 'dispute_received',
      version: '1.0.0',
      created_on: '{now:iso}',
      data: { id: 'dsp_bc94ebda8d275i461229', payment_id: 'pay_griq7wyqkggu7mnk7ecm6ysrl4', amount: 2000 },
    },
  },
})
