import type { Kinds } from 'hookonce/testing/contracts'

export const box: Kinds = [
  {
    name: 'an event',
    docs: 'https://developer.box.com/guides/webhooks/v2/notifications-v2/',
    headers: { 'box-signature-version': '1', 'box-delivery-id': 'f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f' },
    body: {
      type: 'webhook_event',
      id: 'eb0c4e06-751f-442c-86f8-fd5bb404dbec',
      created_at: '2016-10-07T10:28:26-07:00',
      trigger: 'FILE.UPLOADED',
      webhook: { id: '53', type: 'webhook' },
      source: { id: '73835521473', type: 'file' },
    },
    events: ['FILE.UPLOADED'],
    redelivery: { 'header:box-delivery-id': 'a96bb54b-ee16-4fc5-aa65-8c2d9e5b546f', timestamp: 60_000 },
    another: { 'json:id': 'fb0c4e06-751f-442c-86f8-fd5bb404dbec' },
  },
]
