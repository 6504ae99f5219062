import { composite, defineProvider, jwtScheme, optional } from '../verification/define-provider.js'

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
  samples: {
    'message.created': {
      type: 'message.created',
      contact: { id: '9354647c5b144a2b4c99f2n42497249', msisdn: 31612345678 },
      conversation: { id: '2e15efafec384e1c82e9842075e87beb', status: 'active' },
      message: {
        id: '{id}',
        conversationId: '2e15efafec384e1c82e9842075e87beb',
        channelId: '619747f69cf940a98fb443140ce9aed2',
        direction: 'received',
        status: 'received',
        type: 'text',
        content: { text: 'hello' },
        createdDatetime: '{now:iso}',
        updatedDatetime: '{now:iso}',
      },
    },
    'message.updated': {
      type: 'message.updated',
      conversation: { id: '2e15efafec384e1c82e9842075e87beb', status: 'active' },
      message: {
        id: '{id}',
        conversationId: '2e15efafec384e1c82e9842075e87beb',
        direction: 'sent',
        status: 'delivered',
        type: 'text',
        updatedDatetime: '{now:iso}',
      },
    },
  },
})
