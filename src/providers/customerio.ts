import { days, defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const customerio = defineProvider({
  key: 'customerio',
  name: 'Customer.io (reporting webhooks)',
  docs: 'https://docs.customer.io/integrations/data-out/connections/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({
    // `v0` is in the signed text, not in the header.
    signature: 'header:x-cio-signature',
    encoding: 'hex',
    signed: 'v0:{timestamp}:{body}',
    // unchecked: whether a retry has a new time. A rejected webhook blocks all later ones for up to seven days, and a
    // replay is known by its signed id; so the time is compared with the clock only with `tolerance`.
    timestamp: { in: 'header:x-cio-timestamp', unit: 's', tolerance: null },
  }),
  events: {
    id: 'json:event_id',
    type: join('.', 'json:object_type', 'json:metric'),
    reference: ['json:data.delivery_id', 'json:data.customer_id'],
  },
  retryWindowMs: days(7),
  answer: { timeLimitMs: seconds(4) },
  samples: sampleFile('customerio'),
})
