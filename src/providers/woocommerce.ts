import {
  choose,
  composite,
  defineProvider,
  hmacScheme,
  mapped,
  part,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const resource = part('.', 0, 'header:x-wc-webhook-topic')

export const woocommerce = defineProvider({
  key: 'woocommerce',
  name: 'WooCommerce',
  docs: 'https://woocommerce.com/document/webhooks/',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({ signature: 'header:x-wc-webhook-signature', encoding: 'base64' }),
  events: {
    // The delivery id is a hash of webhook and second: two events of one second share it, so the id also has the hash of
    // the body. The body alone is not enough: a deletion is only `{"id":1}` and can happen again after a restore.
    id: composite('header:x-wc-webhook-topic', 'header:x-wc-webhook-delivery-id', 'hash'),
    type: 'header:x-wc-webhook-topic',
    reference: 'json:id',
    references: {
      customer: [
        choose(resource, { customer: 'json:id' }),
        // Guests share the number 0.
        mapped('json:customer_id', { 0: '' }),
      ],
      order: choose(resource, { order: 'json:id' }),
      product: choose(resource, { product: 'json:id' }),
    },
  },
  // Sent on creation: an unsigned form with the number of the webhook, without the other headers. It needs a 200.
  handshakes: [{ when: { 'form:webhook_id': true }, signed: false, reply: {} }],
  // No retries; a webhook is disabled after more than five consecutive failures.
  retryWindowMs: 0,
  disables: {
    when: 'disables a webhook after more than 5 failed deliveries in a row, without a word',
    again: 'Set it to Active in WooCommerce, Settings, Advanced, Webhooks.',
    docs: 'https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(60) },
  keepHeaders: ['x-wc-webhook-source', 'x-wc-webhook-topic', 'x-wc-webhook-id', 'x-wc-webhook-delivery-id'],
  sampleHeaders: {
    'x-wc-webhook-source': 'https://shop.example.com/',
    'x-wc-webhook-topic': '{type}',
    'x-wc-webhook-id': '17',
    'x-wc-webhook-delivery-id': 'd35cd5a3dd7eb18e23b0dcd5d5a2fd19',
  },
  samples: sampleFile('woocommerce'),
})
