import { days, defineProvider, hmacScheme } from '../verification/define-provider.js'

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
  samples: {
    'charge.success': {
      event: 'charge.success',
      data: {
        id: '{id:number}',
        domain: 'live',
        status: 'success',
        reference: 'qTPrJoy9Bx',
        amount: 10000,
        currency: 'NGN',
        channel: 'card',
        paid_at: '{now:iso}',
        customer: { id: 68324, email: 'bojack@horsinaround.com', customer_code: 'CUS_qo38as2hpsgk2r0' },
      },
    },
    'transfer.success': {
      event: 'transfer.success',
      data: {
        id: '{id:number}',
        amount: 30000,
        currency: 'NGN',
        reference: '1jhbs3ozmen0k7y5efmw',
        status: 'success',
        transfer_code: 'TRF_wpl1dem4967avzm',
        updated_at: '{now:iso}',
      },
    },
  },
})
