import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const paystack = defineProvider({
  key: 'paystack',
  name: 'Paystack',
  docs: 'https://paystack.com/docs/payments/webhooks/',
  confidence: 'verified',
  aliases: { secretKey: 'secret' },
  // Signed with the account's secret key (sk_live_..., sk_test_...); there is none for webhooks alone.
  verify: hmacScheme({ algorithm: 'sha512', signature: 'header:x-paystack-signature', encoding: 'hex' }),
  // There is no event id. `data.id` is the object's and comes back with reminders and updates.
  events: { id: 'hash', type: 'json:event', reference: ['json:data.reference', 'json:data.id'] },
  // unchecked: from memory. In test mode ten hours.
  retryWindowMs: days(3),
  answer: { timeLimitMs: null, httpStatus: 200 },
  sampleId: 'number',
  samples: sampleFile('paystack'),
})
