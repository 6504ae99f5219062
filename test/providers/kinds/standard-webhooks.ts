import type { Kinds } from 'hookonce/testing/contracts'

export const standardWebhooks: Kinds = [
  {
    name: 'a message',
    headers: { 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' },
    body: { type: 'contact.created', timestamp: '2022-11-03T20:26:10.344522Z', data: { id: 'ct_1' } },
    events: ['contact.created'],
    // Two equal messages have two ids.
    another: { 'header:webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4X' },
  },
  {
    name: 'a thin message without data',
    headers: { 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' },
    body: { type: 'contact.created' },
    events: ['contact.created'],
    another: { 'header:webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4X' },
  },
]
