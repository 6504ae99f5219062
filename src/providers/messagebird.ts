import { composite, defineProvider, jwtScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const messagebird = defineProvider({
  key: 'messagebird',
  name: 'MessageBird (Bird)',
  docs: 'https://developers.messagebird.com/api/#verifying-http-requests',
  confidence: 'verified',
  aliases: { signingKey: 'secret' },
  verify: jwtScheme({
    in: 'header:messagebird-signature-jwt',
    algorithms: ['HS256', 'HS384', 'HS512'],
    claims: { iss: 'MessageBird' },
    required: ['exp', 'jti'],
    urlHash: { claim: 'url_hash' },
    bodyHash: { claim: 'payload_hash', unlessEmpty: true },
  }),
  // `jti` names the token and, by all that is documented, may be another on each retry: the message and what happened
  // to it name the event. unchecked: the names of these members.
  events: [
    // Status reports of SMS are a GET with everything in the query, which the token covers.
    {
      id: composite(
        'query:id',
        'query:status',
        optional('query:recipient'),
        optional('query:statusDatetime'),
      ),
      type: 'query:status',
      reference: 'query:id',
    },
    {
      id: [
        composite(
          'json:type',
          'json:message.id',
          optional('json:message.status'),
          optional('json:message.updatedDatetime'),
        ),
        'hash',
      ],
      type: 'json:type',
      reference: ['json:message.id', 'json:conversation.id'],
      otherwise: true,
    },
  ],
  retryWindowMs: null,
  samples: sampleFile('messagebird'),
})
