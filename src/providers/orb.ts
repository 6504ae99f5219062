import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const orb = defineProvider({
  key: 'orb',
  name: 'Orb (billing)',
  docs: 'https://docs.withorb.com/integrations-and-exports/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // As in its library (orb-billing 6.11.0). The time has no zone and is UTC.
  verify: hmacScheme({
    signature: { in: 'header:x-orb-signature', prefix: 'v1=' },
    encoding: 'hex',
    signed: 'v1:{timestamp}:{body}',
    timestamp: { in: 'header:x-orb-timestamp', unit: 'iso-utc' },
  }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: ['json:invoice.id', 'json:subscription.id', 'json:customer.id', 'json:*.id'],
    references: {
      customer: ['json:customer.id', 'json:*.customer.id'],
      subscription: ['json:subscription.id', 'json:*.subscription.id'],
      invoice: 'json:invoice.id',
    },
  },
  retryWindowMs: null,
  samples: sampleFile('orb'),
})
