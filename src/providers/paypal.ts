import { choose, days, defineProvider, rsaScheme } from '../verification/define-provider.js'
import { paypalList } from './lists/paypal.js'
import { sampleFile } from './sample.js'

export const paypal = defineProvider({
  key: 'paypal',
  name: 'PayPal',
  docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
  confidence: 'verified',
  // Only the CRC-32 of the body is signed: an attacker with a captured delivery can make another body with the same
  // CRC, for any event.
  verify: rsaScheme({
    signature: 'header:paypal-transmission-sig',
    encoding: 'base64',
    signed: '{header:paypal-transmission-id}|{timestamp}|{option:webhookId}|{crc32}',
    // unchecked: whether a retry has a new transmission time, so it is not compared with the clock.
    timestamp: { in: 'header:paypal-transmission-time', unit: 'iso', tolerance: null },
    certificate: {
      url: 'header:paypal-cert-url',
      hosts: ['api.paypal.com', 'api-m.paypal.com', 'api.sandbox.paypal.com', 'api-m.sandbox.paypal.com'],
      path: /^\/v1\/notifications\/certs\/[A-Za-z0-9_-]+$/,
    },
  }),
  // The id of the webhook is part of the signed text.
  sharedKey: { namedBy: 'webhookId' },
  options: {
    webhookId: {
      what: 'Webhook ID, shown beside the webhook in the developer dashboard',
      required: true,
      example: '1JE4291016473214C',
    },
  },
  // The transmission id is that of the delivery, not of the event.
  events: {
    id: 'json:id',
    type: 'json:event_type',
    reference: [
      // Authorizations, captures and refunds of one order follow the events of the order.
      'json:resource.supplementary_data.related_ids.order_id',
      // The payments of a subscription; in the older API the payment of a sale or refund.
      'json:resource.billing_agreement_id',
      'json:resource.parent_payment',
      'json:resource.id',
      // Disputes, invoices and payouts have no resource.id.
      'json:resource.dispute_id',
      'json:resource.invoice.id',
      'json:resource.payout_item_id',
      'json:resource.batch_header.payout_batch_id',
    ],
    // Captures and refunds have only the order.
    references: {
      customer: [
        'json:resource.payer.payer_id',
        'json:resource.subscriber.payer_id',
        'json:resource.payer.payer_info.payer_id',
      ],
      order: [
        'json:resource.supplementary_data.related_ids.order_id',
        choose('json:resource_type', { 'checkout-order': 'json:resource.id' }),
      ],
      subscription: [
        'json:resource.billing_agreement_id',
        choose('json:resource_type', { subscription: 'json:resource.id' }),
      ],
    },
  },
  // A transmission has an id and carries one event: another event with its signed text does not come from PayPal.
  contentGuard: 'review',
  retryWindowMs: days(3),
  list: paypalList,
  keepHeaders: ['paypal-transmission-id', 'paypal-transmission-time'],
  sampleId: 'WH-',
  sampleHeaders: {
    'paypal-transmission-id': '69cd13f0-d67a-11e5-baa3-778b53f4ae55',
    'paypal-auth-algo': 'SHA256withRSA',
    'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5d93a270',
  },
  samples: sampleFile('paypal'),
})
