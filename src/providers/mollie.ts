import { choose, defineProvider, hmacScheme, hours, part, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * The webhooks of 2025. The classic webhooks are not signed and have only `id=tr_...`, the same for every change of
 * status, so their events have no id.
 */
export const mollie = defineProvider({
  key: 'mollie',
  name: 'Mollie (next-gen webhooks)',
  docs: 'https://docs.mollie.com/reference/webhooks-new',
  confidence: 'verified',
  verify: hmacScheme({
    // The header is sent twice for a day after a change of the secret; Node joins both.
    signature: { in: 'header:x-mollie-signature', prefix: 'sha256=', separator: ',' },
    encoding: 'hex',
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: 'json:entityId',
    references: {
      payment_link: choose(part('.', 0, 'json:type'), { 'payment-link': 'json:entityId' }),
      invoice: choose(part('.', 0, 'json:type'), { 'sales-invoice': 'json:entityId' }),
    },
  },
  retryWindowMs: hours(26),
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'event_',
  samples: sampleFile('mollie'),
})
