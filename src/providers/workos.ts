import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { workosList } from './lists/workos.js'
import { sampleFile } from './sample.js'

/** Webhooks. Actions need a signed answer and are not supported. */
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
    // Its library has three minutes as the default.
    timestamp: { in: 'signature', unit: 'ms', tolerance: minutes(3) },
  }),
  events: { id: 'json:id', type: 'json:event', reference: 'json:data.id' },
  retryWindowMs: null,
  list: workosList,
  sampleId: 'event_',
  samples: sampleFile('workos'),
})
