import type { Kinds } from 'hookonce/testing/contracts'

export const contentful: Kinds = [
  {
    name: 'an event',
    docs: 'https://www.contentful.com/developers/docs/webhooks/overview/',
    headers: {
      'content-type': 'application/vnd.contentful.management.v1+json',
      'x-contentful-topic': 'ContentManagement.Entry.publish',
      'x-contentful-idempotency-key': '5e5e1a6d38b2f8a1',
      'x-contentful-signed-headers':
        'content-type,x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic',
    },
    body: { sys: { id: '5KsDBWseXY6QegucYAoacS', type: 'Entry', version: 3 } },
    events: ['ContentManagement.Entry.publish'],
    another: { 'header:x-contentful-idempotency-key': '6e5e1a6d38b2f8a1' },
  },
]
