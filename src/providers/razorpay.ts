import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'

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
  samples: {
    'payment.captured': {
      entity: 'event',
      account_id: 'acc_BFQ7uQEaa7j2z7',
      event: '{type}',
      contains: ['payment'],
      payload: {
        payment: {
          entity: {
            id: 'pay_DESlfW9H8K9uqM',
            entity: 'payment',
            amount: 100,
            currency: 'INR',
            status: 'captured',
            order_id: 'order_DESlLckIVRkHWj',
            notes: { ref: '{id}' },
          },
        },
      },
      created_at: '{now:s}',
    },
    'order.paid': {
      entity: 'event',
      account_id: 'acc_BFQ7uQEaa7j2z7',
      event: '{type}',
      contains: ['payment', 'order'],
      payload: {
        payment: { entity: { id: 'pay_DESyzxl4MK9Dq3', entity: 'payment', amount: 100, status: 'captured' } },
        order: { entity: { id: 'order_DESwCSSDgzPRnY', entity: 'order', receipt: '{id}', status: 'paid' } },
      },
      created_at: '{now:s}',
    },
  },
})
