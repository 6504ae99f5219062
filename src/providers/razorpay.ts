import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const razorpay = defineProvider({
  key: 'razorpay',
  name: 'Razorpay',
  docs: 'https://razorpay.com/docs/webhooks/validate-test/',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Retries of older events use the old secret: configure both for a day after a change.
  verify: hmacScheme({ signature: 'header:x-razorpay-signature', encoding: 'hex' }),
  // The id is only in this header, and not signed.
  events: {
    id: 'header:x-razorpay-event-id',
    type: 'json:event',
    // The payload has every object that is concerned. A payment and its refunds follow their order.
    reference: [
      'json:payload.subscription.entity.id',
      'json:payload.order.entity.id',
      'json:payload.payment.entity.order_id',
      'json:payload.payment.entity.id',
      'json:payload.refund.entity.payment_id',
      'json:payload.*.entity.id',
    ],
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-razorpay-event-id'],
  samples: sampleFile('razorpay'),
})
