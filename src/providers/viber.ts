import { composite, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const viber = defineProvider({
  key: 'viber',
  name: 'Viber',
  docs: 'https://developers.viber.com/docs/api/rest-bot-api/#callbacks',
  confidence: 'likely',
  aliases: { authToken: 'secret' },
  verify: hmacScheme({
    // Both places have the same value.
    signature: { in: ['header:x-viber-content-signature', 'query:sig'] },
    encoding: 'hex',
  }),
  events: {
    // The token of a message, greater than 2^53, is the same when it is delivered and when it is seen.
    id: composite('json:event', 'json:message_token', optional(['json:user_id', 'json:user.id'])),
    type: 'json:event',
    reference: ['json:sender.id', 'json:user.id', 'json:user_id'],
  },
  // set_webhook calls the URL and needs a 200. unchecked: that the call is signed, as documented for every callback.
  handshakes: [{ when: { 'json:event': 'webhook' }, signed: true, reply: {} }],
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('viber'),
})
