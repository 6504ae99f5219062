import type { Kinds } from 'hookonce/testing/contracts'

export const strapi: Kinds = [
  {
    name: 'an entry that was updated',
    headers: { 'x-strapi-event': 'entry.update' },
    body: {
      event: 'entry.update',
      createdAt: '2020-01-10T08:58:26.563Z',
      model: 'address',
      entry: { id: 1, documentId: 'cnpxi4hl1v', city: 'Paris' },
    },
    events: ['entry.update'],
    // Saved again without a change.
    another: { 'json:createdAt': '2020-01-10T08:58:26.564Z' },
  },
  {
    name: 'a file that was uploaded',
    headers: { 'x-strapi-event': 'media.create' },
    body: {
      event: 'media.create',
      createdAt: '2020-01-10T10:58:41.115Z',
      media: { id: 1, name: 'image.png' },
    },
    events: ['media.create'],
    another: { 'json:media.id': 2 },
  },
  {
    name: 'a release that was published',
    headers: { 'x-strapi-event': 'releases.publish' },
    body: {
      event: 'releases.publish',
      createdAt: '2024-02-21T16:45:36.877Z',
      isPublished: true,
      release: { id: 2 },
    },
    events: ['releases.publish'],
    another: { 'json:release.id': 3 },
  },
  {
    name: 'a test from the admin panel',
    headers: { 'x-strapi-event': 'trigger-test' },
    body: {},
    events: ['trigger-test'],
    merged:
      'The test button of the admin panel always sends the same bytes. A second test counts as a redelivery.',
  },
]
