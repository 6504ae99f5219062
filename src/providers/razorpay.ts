import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const razorpay = defineProvider({
  key: 'razorpay',
  name: 'Razorpay',
  docs: 'https://razorpay.com/docs/webhooks/validate-test/',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // After a change of secret the retries of older events keep the old one: give both for a day.
  verify: hmacScheme({ signature: 'header:x-razorpay-signature', encoding: 'hex' }),
  // The id is in this header only, and unsigned.
  events: {
    id: 'header:x-razorpay-event-id',
    type: 'json:event',
    // By kind: payload.payment.entity, payload.order.entity, ...
    reference: 'json:payload.*.entity.id',
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-razorpay-event-id'],
  samples: sampleFile('razorpay'),
})
