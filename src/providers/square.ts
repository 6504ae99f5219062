import { choose, days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { squareList } from './lists/square.js'
import { sampleFile } from './sample.js'

export const square = defineProvider({
  key: 'square',
  name: 'Square',
  docs: 'https://developer.squareup.com/docs/webhooks/step3validate',
  confidence: 'verified',
  aliases: { signatureKey: 'secret' },
  verify: hmacScheme({
    signature: 'header:x-square-hmacsha256-signature',
    encoding: 'base64',
    // The signed URL is exactly that of the subscription: behind a proxy set it as `publicUrl`.
    signed: '{url}{body}',
  }),
  events: {
    id: 'json:event_id',
    type: 'json:type',
    reference: ['json:data.object.refund.payment_id', 'json:data.id'],
    references: {
      customer: [
        choose('json:data.type', { customer: 'json:data.id' }),
        'json:data.object.*.customer_id',
        'json:data.object.invoice.primary_recipient.customer_id',
      ],
      order: [choose('json:data.type', { order: 'json:data.id' }), 'json:data.object.*.order_id'],
      payment: [choose('json:data.type', { payment: 'json:data.id' }), 'json:data.object.refund.payment_id'],
    },
  },
  // Its page about deliveries says so; newer pages say 24 hours.
  retryWindowMs: days(3),
  list: squareList,
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('square'),
})
