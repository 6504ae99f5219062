import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const auth0LogStreams = defineProvider({
  key: 'auth0LogStreams',
  name: 'Auth0 log streams (custom webhook)',
  docs: 'https://auth0.com/docs/customize/log-streams/custom-log-streams',
  confidence: 'verified',
  // The stream's authorization token is the whole header, with or without `Bearer`, as it was typed there.
  verify: tokenScheme({ in: 'header:authorization' }),
  // JSON Lines, a JSON array or an object, by the stream's setting.
  document: { lines: true },
  // unchecked: the paths within an entry.
  events: { id: 'json:log_id', type: 'json:data.type', reference: 'json:data.user_id' },
  retryWindowMs: null,
  samples: sampleFile('auth0-log-streams'),
})
