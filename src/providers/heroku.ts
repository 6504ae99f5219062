import { days, defineProvider, hmacScheme, join, optional } from '../verification/define-provider.js'

export const heroku = defineProvider({
  key: 'heroku',
  name: 'Heroku (app webhooks)',
  docs: 'https://devcenter.heroku.com/articles/app-webhooks',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:heroku-webhook-hmac-sha256', encoding: 'base64' }),
  events: {
    id: 'json:webhook_metadata.event.id',
    type: join('.', 'json:webhook_metadata.event.include', optional('json:action')),
    reference: 'json:data.id',
    // webhook_metadata.attempt.id is new each time.
    content: 'none',
  },
  // With level `sync`; with `notify` there is one attempt.
  retryWindowMs: days(3),
  samples: {
    'api:release.update': {
      id: 'c2b3e1f4-06a6-4cf5-9d29-b2b4a1d0f2aa',
      action: 'update',
      actor: { id: '01234567-89ab-cdef-0123-456789abcdef', email: 'dev@example.com' },
      resource: 'release',
      version: 'application/vnd.heroku+json; version=3',
      created_at: '{now:iso}',
      data: { id: '8d27e5b0-3b8e-4d2f-bd1a-1d1a1c3c2c10', version: 12, status: 'succeeded' },
      webhook_metadata: {
        attempt: { id: '2f1d7c7a-8a5f-4c15-8c0e-5f1f0a6b7c8d' },
        delivery: { id: '4a9d2f0e-6b3c-4d1e-9f8a-7b6c5d4e3f2a' },
        event: { id: '{id}', include: 'api:release' },
        webhook: { id: '9c8b7a6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d' },
      },
    },
    'dyno.create': {
      id: '5d4c3b2a-1f0e-4d9c-8b7a-6f5e4d3c2b1a',
      action: 'create',
      resource: 'dyno',
      version: 'application/vnd.heroku+json; version=3',
      created_at: '{now:iso}',
      data: { id: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'web.1', state: 'starting' },
      webhook_metadata: {
        attempt: { id: '3e2d1c0b-9a8f-4e7d-8c6b-5a4f3e2d1c0b' },
        delivery: { id: '6c5b4a3f-2e1d-4c0b-9a8f-7e6d5c4b3a2f' },
        event: { id: '{id}', include: 'dyno' },
        webhook: { id: '9c8b7a6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d' },
      },
    },
  },
})
