import { composite, defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const calendly = defineProvider({
  key: 'calendly',
  name: 'Calendly (v2)',
  docs: 'https://developer.calendly.com/api-docs/ZG9jOjM2MzE2MDM4-webhook-signatures',
  confidence: 'verified',
  aliases: { signingKey: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:calendly-webhook-signature', pairs: { signature: 'v1', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    // unchecked: three minutes come from Calendly's example code.
    timestamp: { in: 'signature', unit: 's', tolerance: minutes(3) },
  }),
  events: {
    // There is no event id.
    id: composite('json:event', 'json:payload.uri', 'json:created_at'),
    type: 'json:event',
    reference: 'json:payload.uri',
  },
  // unchecked: 24 hours, according to third parties.
  retryWindowMs: null,
  disables: {
    when: 'disables a subscription after 24 hours of failures',
    again: 'Create the subscription again with the API of Calendly.',
    docs: 'https://developer.calendly.com/api-docs/overview/webhooks/webhook-errors',
    confidence: 'verified',
  },
  samples: sampleFile('calendly'),
})
