import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const reference = [
  'json:data.reference',
  'json:data.transaction_reference',
  // An invoice gets a transaction only when it is paid, so its subscription is first.
  'json:data.subscription.subscription_code',
  'json:data.subscription_code',
  'json:data.transaction.reference',
  'json:data.transfer_code',
  'json:data.customer_code',
  'json:data.id',
] as const

export const paystack = defineProvider({
  key: 'paystack',
  name: 'Paystack',
  docs: 'https://paystack.com/docs/payments/webhooks/',
  confidence: 'verified',
  aliases: { secretKey: 'secret' },
  // Signed with the secret key of the account (sk_live_..., sk_test_...); there is no separate secret for webhooks.
  verify: hmacScheme({ algorithm: 'sha512', signature: 'header:x-paystack-signature', encoding: 'hex' }),
  // There is no event id. `data.id` is that of the object, which reminders and updates share.
  events: {
    id: 'hash',
    type: 'json:event',
    reference,
    references: {
      customer: ['json:data.customer.customer_code', 'json:data.customer_code'],
      subscription: ['json:data.subscription.subscription_code', 'json:data.subscription_code'],
    },
  },
  // unchecked: not confirmed by a document. Ten hours in test mode.
  retryWindowMs: days(3),
  answer: { timeLimitMs: null, httpStatus: 200 },
  sampleId: 'number',
  samples: sampleFile('paystack'),
})
