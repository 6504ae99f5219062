import { composite, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const viber = defineProvider({
  key: 'viber',
  name: 'Viber',
  docs: 'https://developers.viber.com/docs/api/rest-bot-api/#callbacks',
  confidence: 'likely',
  aliases: { authToken: 'secret' },
  verify: hmacScheme({
    // The same in both places.
    signature: { in: ['header:x-viber-content-signature', 'query:sig'] },
    encoding: 'hex',
  }),
  events: {
    // A message's token, beyond 2^53, comes back when it is delivered and when it is seen.
    id: composite('json:event', 'json:message_token', optional(['json:user_id', 'json:user.id'])),
    type: 'json:event',
    reference: ['json:sender.id', 'json:user.id', 'json:user_id'],
  },
  // set_webhook asks the address and fails without a 200. unchecked: that it is signed, as every callback is said to be.
  handshakes: [{ when: { 'json:event': 'webhook' }, signed: true, reply: {} }],
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('viber'),
})
