import { defineProvider, hmacScheme } from '../verification/define-provider.js'

/** Application webhooks. The older rule webhooks sign the body alone with SHA-1 and are another kind. */
export const front = defineProvider({
  key: 'front',
  name: 'Front (application webhooks)',
  docs: 'https://dev.frontapp.com/docs/webhooks-1',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:x-front-signature',
    encoding: 'base64',
    signed: '{timestamp}:{body}',
    // Milliseconds, although its documentation once said seconds.
    timestamp: { in: 'header:x-front-request-timestamp', unit: 'ms' },
  }),
  events: { id: 'json:payload.id', type: 'json:type', reference: 'json:payload.conversation.id' },
  handshakes: [
    {
      when: { 'json:type': 'sync', 'header:x-front-challenge': true },
      signed: true,
      reply: { text: '{header:x-front-challenge}' },
    },
  ],
  // Up to three retries, at times that are not published.
  retryWindowMs: null,
  sampleId: 'evt_',
  samples: {
    inbound_received: {
      type: 'inbound_received',
      authorization: { id: 'cmp_41w25' },
      payload: {
        id: '{id}',
        type: 'inbound',
        emitted_at: '{now:s}',
        conversation: { id: 'cnv_yo1kg5q', subject: 'How to prank Dwight Schrute', status: 'assigned' },
        source: { _meta: { type: 'inboxes' }, data: [{ id: 'inb_1', name: 'Support' }] },
        target: { _meta: { type: 'message' }, data: { id: 'msg_q5qz1p', type: 'email' } },
      },
    },
    conversation_archived: {
      type: 'conversation_archived',
      authorization: { id: 'cmp_41w25' },
      payload: {
        id: '{id}',
        type: 'archive',
        emitted_at: '{now:s}',
        conversation: { id: 'cnv_yo1kg5q', subject: 'How to prank Dwight Schrute', status: 'archived' },
      },
    },
  },
})
