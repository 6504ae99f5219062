import { days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const square = defineProvider({
  key: 'square',
  name: 'Square',
  docs: 'https://developer.squareup.com/docs/webhooks/step3validate',
  confidence: 'verified',
  aliases: { signatureKey: 'secret' },
  verify: hmacScheme({
    signature: 'header:x-square-hmacsha256-signature',
    encoding: 'base64',
    // The notification URL exactly as the subscription has it: behind a proxy, say it in `publicUrl`.
    signed: '{url}{body}',
  }),
  events: { id: 'json:event_id', type: 'json:type', reference: 'json:data.id' },
  // By its delivery pages; some newer material says 24 hours.
  retryWindowMs: days(3),
  answer: { timeLimitMs: seconds(10) },
  samples: {
    'payment.created': {
      merchant_id: '6SSW7HV8K2ST5',
      location_id: 'LVJ4P8R4A8GPV',
      type: 'payment.created',
      event_id: '{id}',
      created_at: '{now:iso}',
      data: {
        type: 'payment',
        id: 'hYy9pRFVxpDsO1FB05SunFWUe9JZY',
        object: {
          payment: {
            id: 'hYy9pRFVxpDsO1FB05SunFWUe9JZY',
            amount_money: { amount: 1000, currency: 'USD' },
            status: 'APPROVED',
          },
        },
      },
    },
    'refund.updated': {
      merchant_id: '6SSW7HV8K2ST5',
      type: 'refund.updated',
      event_id: '{id}',
      created_at: '{now:iso}',
      data: {
        type: 'refund',
        id: 'bP9mAsEMYPUGjjGNaNO5ZDVyLhSZY_xWOTbw',
        object: { refund: { status: 'COMPLETED', amount_money: { amount: 200, currency: 'USD' } } },
      },
    },
  },
})
