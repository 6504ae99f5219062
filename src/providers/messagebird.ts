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
  // `jti` is the id of the token and, as far as documented, may change on each retry. So the id of an event is made
  // of the message and its status. unchecked: the names of these members.
  events: [
    // A status report of an SMS is a GET with all values in the query, which the token covers.
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
