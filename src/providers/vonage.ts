import { composite, defineProvider, hours, jwtScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Messages and voice events by POST. The SMS API signs form parameters and is not supported. */
export const vonage = defineProvider({
  key: 'vonage',
  name: 'Vonage',
  docs: 'https://developer.vonage.com/en/getting-started/concepts/webhooks',
  confidence: 'likely',
  aliases: { signatureSecret: 'secret' },
  // The secret is the signature secret of the account. Its own library checks the token, but not the hash of the body.
  verify: jwtScheme({
    in: 'header:authorization',
    prefix: 'Bearer ',
    algorithms: ['HS256'],
    claims: { iss: 'Vonage' },
    // unchecked: whether a retry has a new token. There is no `exp`.
    issuedAt: { tolerance: null },
    bodyHash: { claim: 'payload_hash' },
  }),
  events: {
    // There is no event id, and jti is that of the token. A message is sent with each status, a call also with equal ones.
    id: [
      composite('json:message_uuid', optional('json:status')),
      composite(
        ['json:uuid', 'json:recording_uuid', 'json:conversation_uuid'],
        optional('json:status'),
        'json:timestamp',
      ),
    ],
    type: ['json:status', 'json:message_type', 'json:type'],
    reference: ['json:message_uuid', 'json:uuid', 'json:conversation_uuid'],
  },
  retryWindowMs: hours(24),
  samples: sampleFile('vonage'),
})
