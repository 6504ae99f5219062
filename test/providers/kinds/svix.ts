import type { Kinds } from 'hookonce/testing/contracts'

export const svix: Kinds = [
  {
    name: 'a message',
    headers: { 'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    body: { type: 'invoice.paid', data: { id: 'in_1' } },
    events: ['invoice.paid'],
    // Two equal messages have two ids.
    another: { 'header:svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
  {
    name: 'a message under the unbranded header names',
    options: { headerPrefix: 'webhook' },
    headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    body: { eventType: 'invoice.paid', data: { id: 'in_1' } },
    events: ['invoice.paid'],
    another: { 'header:webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
  {
    name: 'a message that is not JSON',
    headers: { 'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    format: 'text',
    body: 'invoice 1 was paid',
    another: { 'header:svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
]
