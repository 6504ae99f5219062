import { basicScheme, defineProvider, hours, seconds, tokenScheme } from '../verification/define-provider.js'
import { oktaList } from './lists/okta.js'
import { sampleFile } from './sample.js'

export const okta = defineProvider({
  key: 'okta',
  name: 'Okta event hooks',
  docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
  confidence: 'verified',
  // The configured header has the authentication secret in clear; nothing is signed. `basicAuth` is for hooks with a
  // secret of the form `Basic <base64>`.
  verify: { secret: tokenScheme({ in: 'header:{option:header}' }), basicAuth: basicScheme() },
  options: {
    header: {
      what: 'The authentication field of the event hook: the header with the secret',
      default: 'authorization',
      example: 'authorization',
    },
  },
  // eventId is that of the batch. Okta's documentation uses the uuid of each event.
  events: {
    each: 'data.events[]',
    id: 'json:uuid',
    type: 'json:eventType',
    reference: ['json:target[].id', 'json:actor.id'],
  },
  handshakes: [
    {
      when: { method: 'GET', 'header:x-okta-verification-challenge': true },
      signed: true,
      reply: { json: { verification: '{header:x-okta-verification-challenge}' } },
    },
  ],
  // unchecked: one retry, at an undocumented time.
  retryWindowMs: hours(1),
  list: oktaList,
  answer: { timeLimitMs: seconds(3), httpStatus: 204, body: '' },
  samples: sampleFile('okta'),
})
