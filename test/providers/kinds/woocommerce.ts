import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'x-wc-webhook-source': 'https://shop.example.com/',
  'x-wc-webhook-id': '17',
  'x-wc-webhook-delivery-id': 'd35cd5a3dd7eb18e23b0dcd5d5a2fd19',
}

export const woocommerce: Kinds = [
  {
    name: 'an order that is created and updated with the same bytes',
    headers: { ...headers, 'x-wc-webhook-topic': 'order.created' },
    body: { id: 727, status: 'processing', date_modified_gmt: '2026-03-22T19:28:08' },
    events: ['order.created'],
    another: [
      { 'header:x-wc-webhook-topic': 'order.updated' },
      { 'header:x-wc-webhook-delivery-id': 'd35cd5a3dd7eb18e23b0dcd5d5a2fd20' },
      // Two events of one second share the delivery id.
      { 'json:id': 728 },
    ],
  },
  {
    name: 'a deletion',
    headers: { ...headers, 'x-wc-webhook-topic': 'product.deleted' },
    body: { id: 794 },
    events: ['product.deleted'],
    another: [{ 'json:id': 795 }, { 'header:x-wc-webhook-delivery-id': 'd35cd5a3dd7eb18e23b0dcd5d5a2fd21' }],
  },
  {
    name: 'an action of a plugin',
    headers: { ...headers, 'x-wc-webhook-topic': 'action.woocommerce_add_to_cart' },
    body: { action: 'woocommerce_add_to_cart', arg: 'f5d1278e8109edd94e1e4197e04873b9' },
    events: ['action.woocommerce_add_to_cart'],
    another: { 'header:x-wc-webhook-delivery-id': 'd35cd5a3dd7eb18e23b0dcd5d5a2fd22' },
  },
  { name: 'the ping of a new webhook', format: 'form', body: { webhook_id: '17' }, handshake: 'unsigned' },
]
