import { basicScheme, defineProvider, minutes, tokenScheme } from '../verification/define-provider.js'

export const auth0Events = defineProvider({
  key: 'auth0Events',
  name: 'Auth0 Event Streams',
  docs: 'https://auth0.com/docs/customize/events/events-best-practices',
  confidence: 'verified',
  // By the stream's authorization: a bearer token, or user and password. Nothing is signed.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    basicAuth: basicScheme(),
  },
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: ['json:data.object.user_id', 'json:data.object.id'],
  },
  // Three retries within seconds; a delivery can be ordered again later.
  retryWindowMs: minutes(1),
  sampleId: 'evt_',
  samples: {
    'user.created': {
      id: '{id}',
      source: 'urn:auth0:example.auth0app.com',
      specversion: '1.0',
      type: 'user.created',
      time: '{now:iso}',
      data: {
        object: {
          user_id: 'auth0|507f1f77bcf86cd799439020',
          email: 'john.doe@example.com',
          email_verified: false,
          created_at: '{now:iso}',
        },
      },
      a0tenant: 'my-tenant',
      a0stream: 'est_1234567890abcdef',
    },
    'organization.created': {
      id: '{id}',
      source: 'urn:auth0:example.auth0app.com',
      specversion: '1.0',
      type: 'organization.created',
      time: '{now:iso}',
      data: { object: { id: 'org_1234567890abcdef', name: 'example-org' } },
      a0tenant: 'my-tenant',
      a0stream: 'est_1234567890abcdef',
    },
  },
})
