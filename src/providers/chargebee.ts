import { basicScheme, defineProvider, hours, minutes } from '../verification/define-provider.js'

export const chargebee = defineProvider({
  key: 'chargebee',
  name: 'Chargebee',
  docs: 'https://www.chargebee.com/docs/2.0/webhook_settings.html',
  confidence: 'verified',
  // The user name and password of the webhook's settings; nothing is signed. Its documentation advises to fetch the
  // event again by its id.
  verify: basicScheme(),
  events: {
    id: 'json:id',
    type: 'json:event_type',
    reference: [
      'json:content.subscription.id',
      'json:content.invoice.id',
      'json:content.credit_note.id',
      'json:content.customer.id',
    ],
    // webhook_status turns into `re_scheduled` on a retry, with the reason of the failure.
    content: 'none',
  },
  retryWindowMs: hours(79),
  answer: { timeLimitMs: minutes(1) },
  sampleId: 'ev_',
  samples: {
    subscription_created: {
      id: '{id}',
      occurred_at: '{now:s}',
      source: 'admin_console',
      object: 'event',
      api_version: 'v2',
      content: {
        subscription: { id: 'AzZlzTSI7x9cAg30', customer_id: 'AzZlzTSI7x16Ufzr', status: 'active' },
        customer: { id: 'AzZlzTSI7x16Ufzr', email: 'jane@example.com' },
      },
      event_type: 'subscription_created',
      webhook_status: 'scheduled',
      webhooks: [{ id: 'whv2_AzZj6kTNx2kNGJAc', webhook_status: 'scheduled', object: 'webhook' }],
    },
    payment_succeeded: {
      id: '{id}',
      occurred_at: '{now:s}',
      source: 'scheduled_job',
      object: 'event',
      api_version: 'v2',
      content: {
        transaction: { id: 'txn_AzZlzTSI7xAq1g4o', type: 'payment', status: 'success', amount: 3600 },
        invoice: { id: '1042', customer_id: 'AzZlzTSI7x16Ufzr', status: 'paid', total: 3600 },
      },
      event_type: 'payment_succeeded',
      webhook_status: 'scheduled',
    },
  },
})
