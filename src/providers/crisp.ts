import { defineProvider, hmacScheme } from '../verification/define-provider.js'

export const crisp = defineProvider({
  key: 'crisp',
  name: 'Crisp',
  docs: 'https://docs.crisp.chat/references/web-hooks/v1/',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:x-crisp-signature',
    encoding: 'hex',
    // Brackets and semicolon are part of it.
    signed: '[{timestamp};{body}]',
    // unchecked: milliseconds or seconds, sources differ; so it is signed but not held against the clock. A replay
    // has the same body, and is the same event.
    timestamp: { in: 'header:x-crisp-request-timestamp', unit: 'ms', toleranceMs: null },
  }),
  events: {
    // No event id; the body has the time of the event in milliseconds.
    id: 'hash',
    type: 'json:event',
    reference: ['json:data.session_id', 'json:website_id'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-delivery-attempt-count', 'x-crisp-hook-origin'],
  samples: {
    'message:send': {
      website_id: '42286ab3-b29a-4fde-8538-da0ae501d825',
      event: 'message:send',
      data: {
        type: 'text',
        origin: 'chat',
        content: 'Hello Crisp, this is a message from a visitor!',
        timestamp: '{now:ms}',
        fingerprint: '{id}',
        website_id: '42286ab3-b29a-4fde-8538-da0ae501d825',
        session_id: 'session_36ba3566-9651-4790-afc8-ffedbccc317f',
        from: 'user',
        user: { nickname: 'visitor607', user_id: 'session_36ba3566-9651-4790-afc8-ffedbccc317f' },
      },
      timestamp: '{now:ms}',
    },
    'session:set_email': {
      website_id: '42286ab3-b29a-4fde-8538-da0ae501d825',
      event: 'session:set_email',
      data: {
        session_id: 'session_36ba3566-9651-4790-afc8-ffedbccc317f',
        website_id: '42286ab3-b29a-4fde-8538-da0ae501d825',
        email: '{id}@example.com',
      },
      timestamp: '{now:ms}',
    },
  },
})
