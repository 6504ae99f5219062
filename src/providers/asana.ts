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
      what: 'Any text, such as `yes`, while webhooks are being created: their handshake is then answered',
      example: 'yes',
    },
  },
  events: {
    each: 'events[]',
    // There is no id. An event has its time in milliseconds, and what changed: the whole of it is what names it.
    id: 'hash',
    type: join('.', optional('json:resource.resource_type'), 'json:action'),
    reference: 'json:resource.gid',
  },
  handshakes: [
    // It hands over the secret, once, and wants it back. Whoever asks, it proves nothing; without the option it is not
    // answered, so that strangers cannot point their webhooks here. The user finds the secret in the answer of the API
    // call that creates the webhook; until then any placeholder will do.
    {
      when: { 'header:x-hook-secret': true },
      signed: false,
      needsOption: 'acceptHandshake',
      reply: { headers: { 'x-hook-secret': '{header:x-hook-secret}' } },
    },
    // A heartbeat every eight hours: unanswered, the webhook is deleted.
    { when: { 'json:events': [] }, signed: true, reply: {} },
  ],
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('asana'),
})
