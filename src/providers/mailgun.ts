import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Event webhooks, which are JSON. Routes (inbound mail) are forms and are not these. */
export const mailgun = defineProvider({
  key: 'mailgun',
  name: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
  confidence: 'likely',
  aliases: { signingKey: 'secret', webhookSigningKey: 'secret' },
  // Only timestamp and token are signed, not the event: who has captured one delivery can put other data beside it for
  // as long as the timestamp is accepted.
  verify: hmacScheme({
    // A subaccount's event has a second one, made with the key of the account above it.
    signature: { in: ['json:signature.signature', 'json:signature.parent-signature'] },
    encoding: 'hex',
    signed: '{timestamp}{json:signature.token}',
    // unchecked: whether a retry is signed anew. If not, the last one comes eight hours later.
    timestamp: { in: 'json:signature.timestamp', unit: 's', toleranceMs: hours(8.5) },
  }),
  events: {
    id: 'json:event-data.id',
    type: 'json:event-data.event',
    reference: 'json:event-data.message.headers.message-id',
    // The signature stands in the body and may be another on a retry.
    content: 'none',
  },
  // Its documentation says to keep the token and to refuse it a second time: another event with it is not Mailgun's.
  contentGuard: 'review',
  retryWindowMs: hours(8),
  samples: sampleFile('mailgun'),
})
