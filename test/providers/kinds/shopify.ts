import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'x-shopify-shop-domain': 'example.myshopify.com',
  'x-shopify-api-version': '2025-07',
  'x-shopify-event-id': '98880550-7158-44d4-b7cd-2c97c8a091b5',
}

export const shopify: Kinds = [
  {
    name: 'a topic of the REST webhooks',
    headers: {
      ...headers,
      'x-shopify-topic': 'orders/paid',
      'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
    },
    // Text, because the id is too large for a JavaScript number.
    body: '{"id":820982911946154508,"financial_status":"paid"}',
    events: ['orders/paid'],
    another: { 'header:x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd044' },
  },
  {
    name: 'a request to erase a shop, equal each time',
    docs: 'https://shopify.dev/docs/apps/build/compliance/privacy-law-compliance',
    headers: {
      ...headers,
      'x-shopify-topic': 'shop/redact',
      'x-shopify-webhook-id': 'c54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
    },
    body: { shop_id: 954889, shop_domain: 'example.myshopify.com' },
    events: ['shop/redact'],
    another: { 'header:x-shopify-webhook-id': 'c54557e4-bdd9-4b37-8a5f-bf7d70bcd044' },
  },
  {
    name: 'a topic of the newer events, with headers without x-',
    headers: {
      'shopify-topic': 'Product',
      'shopify-webhook-id': 'd54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      'shopify-event-id': '98880550-7158-44d4-b7cd-2c97c8a091b6',
    },
    body: { topic: 'Product', action: 'update', fields_changed: ['title'] },
    events: ['Product'],
    another: { 'header:shopify-webhook-id': 'd54557e4-bdd9-4b37-8a5f-bf7d70bcd044' },
  },
]
