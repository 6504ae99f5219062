import type { Kinds } from 'hookonce/testing/contracts'

export const cloudevents: Kinds = [
  {
    name: 'an event in binary mode',
    docs: 'https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/http-protocol-binding.md',
    headers: {
      'ce-id': 'A234',
      'ce-source': '/orders/eu',
      'ce-specversion': '1.0',
      'ce-type': 'order.created',
    },
    body: { orderId: 'order-1001' },
    events: ['order.created'],
    another: [{ 'header:ce-id': 'A235' }, { 'header:ce-source': '/orders/us' }],
  },
  {
    name: 'an event in binary mode whose data is not JSON',
    format: 'text',
    headers: {
      'ce-id': 'A234',
      'ce-source': '/orders/eu',
      'ce-specversion': '1.0',
      'ce-type': 'order.created',
    },
    body: 'hello',
    events: ['order.created'],
    another: { 'header:ce-id': 'A235' },
  },
  {
    name: 'an event in structured mode',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: { specversion: '1.0', id: 'A234', source: '/orders/eu', type: 'order.created', data: {} },
    events: ['order.created'],
    another: [{ 'json:id': 'A235' }, { 'json:source': '/orders/us' }],
  },
  {
    name: 'a batch',
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: [
      { specversion: '1.0', id: 'A234', source: '/orders/eu', type: 'order.created' },
      { specversion: '1.0', id: 'A234', source: '/orders/us', type: 'order.paid' },
    ],
    events: ['order.created', 'order.paid'],
    another: { 'json:1.id': 'A235' },
  },
  {
    name: 'the question for permission',
    method: 'OPTIONS',
    options: { allowedOrigin: 'eventemitter.example.com' },
    headers: { 'webhook-request-origin': 'eventemitter.example.com' },
    handshake: 'unsigned',
  },
]
