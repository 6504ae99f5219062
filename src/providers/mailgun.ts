import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { mailgunList } from './lists/mailgun.js'
import { sampleFile } from './sample.js'

/** Event webhooks, which are JSON. Routes (inbound mail) are forms and not supported. */
export const mailgun = defineProvider({
  key: 'mailgun',
  name: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
  confidence: 'likely',
  aliases: { signingKey: 'secret', webhookSigningKey: 'secret' },
  // Only timestamp and token are signed, not the event: an attacker with a captured delivery can replace the event
  // while the timestamp is accepted.
  verify: hmacScheme({
    // An event of a subaccount has a second signature, with the key of the parent account.
    signature: { in: ['json:signature.signature', 'json:signature.parent-signature'] },
    encoding: 'hex',
    signed: '{timestamp}{json:signature.token}',
    // unchecked: whether a retry has a new signature. If not, the last retry is eight hours old.
    timestamp: { in: 'json:signature.timestamp', unit: 's', tolerance: hours(8.5) },
  }),
  events: {
    id: 'json:event-data.id',
    type: 'json:event-data.event',
    reference: 'json:event-data.message.headers.message-id',
    // The signature is in the body and may change on a retry.
    content: 'none',
  },
  // Mailgun documents to accept a token once: another event with the same token does not come from Mailgun.
  contentGuard: 'review',
  retryWindowMs: hours(8),
  list: mailgunList,
  samples: sampleFile('mailgun'),
})
