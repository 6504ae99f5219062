import type { Kinds } from 'hookonce/testing/contracts'

export const stripe: Kinds = [
  {
    name: 'a snapshot event',
    docs: 'https://docs.stripe.com/api/events/object',
    body: {
      id: 'evt_1NG8Du2eZvKYlo2CUI79vXWy',
      object: 'event',
      api_version: '2019-02-19',
      created: 1686089970,
      data: { object: { id: 'seti_1NG8Du2eZvKYlo2C9XMqbR0x', object: 'setup_intent' } },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type: 'setup_intent.created',
    },
    events: ['setup_intent.created'],
    // The number of endpoints that have not been notified yet.
    redelivery: { 'json:pending_webhooks': 0, timestamp: 60_000 },
    another: { 'json:id': 'evt_1NG8Du2eZvKYlo2CUI79vXWz' },
  },
  {
    name: 'a snapshot event of a connected account',
    docs: 'https://docs.stripe.com/connect/webhooks',
    body: {
      id: 'evt_1NG8Du2eZvKYlo2CUI79vXW0',
      object: 'event',
      account: 'acct_1032D82eZvKYlo2C',
      data: { object: { id: 'po_1', object: 'payout' } },
      type: 'payout.paid',
    },
    another: { 'json:id': 'evt_1NG8Du2eZvKYlo2CUI79vXW1' },
  },
  {
    name: 'a thin event',
    docs: 'https://docs.stripe.com/api/v2/core/events/object',
    body: {
      id: 'evt_test_65R9Ijk8dKEYZcXeRWn16R9A7j1FSQ3w3TGDPLLGSM4CW0',
      object: 'v2.core.event',
      type: 'v1.billing.meter.error_report_triggered',
      livemode: false,
      created: '2024-09-17T06:20:52.246Z',
      related_object: { id: 'mtr_test_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_test_1' },
    },
    events: ['v1.billing.meter.error_report_triggered'],
    another: { 'json:id': 'evt_test_65R9Ijk8dKEYZcXeRWn16R9A7j1FSQ3w3TGDPLLGSM4CW1' },
  },
]
