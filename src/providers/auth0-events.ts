import { basicScheme, defineProvider, minutes, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const auth0Events = defineProvider({
  key: 'auth0Events',
  name: 'Auth0 Event Streams',
  docs: 'https://auth0.com/docs/customize/events/events-best-practices',
  confidence: 'verified',
  // The authorization of the stream is a bearer token, or user and password. Nothing is signed.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    basicAuth: basicScheme(),
  },
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: ['json:data.object.user_id', 'json:data.object.id'],
  },
  // Three retries within seconds; a user can request a delivery again later.
  retryWindowMs: minutes(1),
  sampleId: 'evt_',
  samples: sampleFile('auth0-events'),
})
