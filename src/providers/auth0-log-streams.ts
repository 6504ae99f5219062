import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const auth0LogStreams = defineProvider({
  key: 'auth0LogStreams',
  name: 'Auth0 log streams (custom webhook)',
  docs: 'https://auth0.com/docs/customize/log-streams/custom-log-streams',
  confidence: 'verified',
  // The authorization token of the stream is the whole header, with or without `Bearer`, as the user entered it.
  verify: tokenScheme({ in: 'header:authorization' }),
  // JSON Lines, a JSON array or an object: the stream has a setting for it.
  document: { lines: true },
  // unchecked: the paths inside an entry.
  events: { id: 'json:log_id', type: 'json:data.type', reference: 'json:data.user_id' },
  retryWindowMs: null,
  samples: sampleFile('auth0-log-streams'),
})
