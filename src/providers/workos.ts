import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'

/** Webhooks. Actions have a signed answer and are another kind. */
export const workos = defineProvider({
  key: 'workos',
  name: 'WorkOS',
  docs: 'https://workos.com/docs/events/data-syncing/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({
    // `t=<milliseconds>, v1=<hex>`, with a space after the comma.
    signature: { in: 'header:workos-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    // Three minutes is the default of its own library.
    timestamp: { in: 'signature', unit: 'ms', toleranceMs: minutes(3) },
  }),
  events: { id: 'json:id', type: 'json:event', reference: 'json:data.id' },
  retryWindowMs: null,
  sampleId: 'event_',
  samples: {
    'user.created': {
      id: '{id}',
      event: 'user.created',
      created_at: '{now:iso}',
      data: {
        object: 'user',
        id: 'user_01E4ZCR3C56J083X43JQXF3JK5',
        email: 'marcelina.davis@example.com',
        first_name: 'Marcelina',
        email_verified: true,
      },
    },
    'dsync.user.updated': {
      id: '{id}',
      event: 'dsync.user.updated',
      created_at: '{now:iso}',
      data: {
        id: 'directory_user_01E1X1B89NH8Z3SDFJR4H7RGX7',
        directory_id: 'directory_01ECAZ4NV9QMV47GW873HDCX74',
        state: 'active',
        previous_attributes: { state: 'inactive' },
      },
    },
  },
})
