import {
  defineProvider,
  hmacScheme,
  hours,
  join,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const asana = defineProvider({
  key: 'asana',
  name: 'Asana',
  docs: 'https://developers.asana.com/docs/webhooks-guide',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-hook-signature', encoding: 'hex' }),
  options: {
    acceptHandshake: {
      what: 'Any text, such as `yes`, while you create webhooks: only then their handshake is answered',
      example: 'yes',
    },
  },
  events: {
    each: 'events[]',
    // There is no id. An event has its time in milliseconds and the change, so its bytes identify it.
    id: 'hash',
    type: join('.', optional('json:resource.resource_type'), 'json:action'),
    reference: 'json:resource.gid',
  },
  handshakes: [
    // Asana sends the secret once and expects it back. The request proves nothing, so it is answered only with the
    // option: strangers cannot register their webhooks here. The secret is also in the response of the API call that
    // creates the webhook; until then the option may have any placeholder.
    {
      when: { 'header:x-hook-secret': true },
      signed: false,
      needsOption: 'acceptHandshake',
      reply: { headers: { 'x-hook-secret': '{header:x-hook-secret}' } },
    },
    // A heartbeat every eight hours. Without an answer Asana deletes the webhook.
    { when: { 'json:events': [] }, signed: true, reply: {} },
  ],
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('asana'),
})
