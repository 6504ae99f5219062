import { defineProvider, tokenScheme } from '../verification/define-provider.js'

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
  samples: {
    s: [
      '{"log_id":"{id}","data":{"date":"{now:iso}","type":"s","client_id":"iI1Z","user_id":"auth0|5f1","ip":"192.0.2.7"}}',
      '{"log_id":"{id}-2","data":{"date":"{now:iso}","type":"seacft","client_id":"iI1Z","user_id":"auth0|5f1"}}',
      '',
    ].join('\n'),
    fp: [{ log_id: '{id}', data: { date: '{now:iso}', type: 'fp', user_id: 'auth0|5f2', ip: '192.0.2.9' } }],
  },
})
