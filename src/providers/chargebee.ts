import { basicScheme, defineProvider, hours, minutes } from '../verification/define-provider.js'
import { chargebeeList } from './lists/chargebee.js'
import { sampleFile } from './sample.js'

export const chargebee = defineProvider({
  key: 'chargebee',
  name: 'Chargebee',
  docs: 'https://www.chargebee.com/docs/2.0/webhook_settings.html',
  confidence: 'verified',
  // The user name and password of the webhook's settings; nothing is signed. Its documentation advises to fetch the
  // event by its id.
  verify: basicScheme(),
  events: {
    id: 'json:id',
    type: 'json:event_type',
    reference: [
      'json:content.subscription.id',
      'json:content.invoice.id',
      'json:content.credit_note.id',
      'json:content.customer.id',
      // Items, prices, coupons, quotes, ...
      'json:content.*.id',
    ],
    references: {
      customer: ['json:content.customer.id', 'json:content.*.customer_id'],
      subscription: ['json:content.subscription.id', 'json:content.*.subscription_id'],
      invoice: ['json:content.invoice.id', 'json:content.*.reference_invoice_id'],
    },
    // A retry has the webhook_status `re_scheduled` and the reason of the failure.
    content: 'none',
  },
  retryWindowMs: hours(79),
  list: chargebeeList,
  answer: { timeLimitMs: minutes(1) },
  sampleId: 'ev_',
  samples: sampleFile('chargebee'),
})
