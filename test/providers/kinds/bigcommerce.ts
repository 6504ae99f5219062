import type { Kinds } from 'hookonce/testing/contracts'

export const bigcommerce: Kinds = [
  {
    name: 'an event, whose body is equal each time',
    docs: 'https://developer.bigcommerce.com/docs/integrations/webhooks',
    headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    body: {
      scope: 'store/order/updated',
      store_id: '1025646',
      data: { type: 'order', id: 250 },
      hash: 'dd70c0976e06b67aaf671e73f49dcb79230ebf9d',
      created_at: 1561479335,
      producer: 'stores/s4zu3d',
    },
    events: ['store/order/updated'],
    another: { 'header:webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
]
