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
    references: {
      customer: ['json:payload.customer.entity.id', 'json:payload.*.entity.customer_id'],
      order: ['json:payload.order.entity.id', 'json:payload.*.entity.order_id'],
      payment: ['json:payload.payment.entity.id', 'json:payload.*.entity.payment_id'],
      subscription: ['json:payload.subscription.entity.id', 'json:payload.*.entity.subscription_id'],
      invoice: ['json:payload.invoice.entity.id', 'json:payload.*.entity.invoice_id'],
    },
  },
  retryWindowMs: hours(24),
  disables: {
    when: 'disables a webhook after 24 hours of failures, and writes an email',
    again: 'Enable it in the Razorpay Dashboard, Account & Settings, Webhooks.',
    docs: 'https://razorpay.com/docs/webhooks/best-practices',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-razorpay-event-id'],
  samples: sampleFile('razorpay'),
})
