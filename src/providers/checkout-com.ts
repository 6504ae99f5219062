import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const checkoutCom = defineProvider({
  key: 'checkoutCom',
  name: 'Checkout.com',
  docs: 'https://www.checkout.com/docs/developer-resources/event-notifications/receive-webhooks',
  confidence: 'likely',
  // The secret is the signature key of the webhook action; on older accounts it is the secret key of the account.
  verify: hmacScheme({ signature: 'header:cko-signature', encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: 'json:data.id',
    references: {
      customer: 'json:data.customer.id',
      payment: 'json:data.payment_id',
      order: 'json:data.reference',
    },
  },
  retryWindowMs: hours(30),
  answer: { timeLimitMs: seconds(10) },
  sampleId: 'evt_',
  samples: sampleFile('checkout-com'),
})
