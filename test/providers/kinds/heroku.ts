import type { Kinds } from 'hookonce/testing/contracts'

const webhook_metadata = {
  attempt: { id: '2f1d7c7a-8a5f-4c15-8c0e-5f1f0a6b7c8d' },
  delivery: { id: '4a9d2f0e-6b3c-4d1e-9f8a-7b6c5d4e3f2a' },
  event: { id: '89fa7c7a-8a5f-4c15-8c0e-5f1f0a6b7c8d', include: 'api:release' },
}

export const heroku: Kinds = [
  {
    name: 'a release',
    body: { action: 'update', resource: 'release', data: { id: '8d27e5b0' }, webhook_metadata },
    events: ['api:release.update'],
    redelivery: { 'json:webhook_metadata.attempt.id': '3f1d7c7a-8a5f-4c15-8c0e-5f1f0a6b7c8d' },
    another: { 'json:webhook_metadata.event.id': '90fa7c7a-8a5f-4c15-8c0e-5f1f0a6b7c8d' },
  },
]
