import type { Kinds } from 'hookonce/testing/contracts'

export const paddleClassic: Kinds = [
  {
    name: 'an alert',
    body: {
      alert_id: '1',
      alert_name: 'subscription_updated',
      event_time: '2026-11-15 12:00:00',
      subscription_id: '4',
      p_signature: '',
    },
    events: ['subscription_updated'],
    another: { 'form:alert_id': '2' },
  },
  {
    name: 'a fulfilment',
    body: { p_order_id: '1', p_product_id: '519437', event_time: '2026-11-15 12:00:00', p_signature: '' },
    events: ['fulfillment'],
    another: { 'form:p_order_id': '2' },
  },
]
