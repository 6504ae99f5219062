import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const convoy = defineProvider({
  key: 'convoy',
  name: 'Convoy',
  docs: 'https://getconvoy.io/docs/product-manual/signatures',
  confidence: 'verified',
  // The endpoint has simple (`secret`) or advanced (`advancedSecret`) signatures. For a project with SHA-512 or base64
  // use `hmac(...)`.
  verify: {
    secret: hmacScheme({ signature: 'header:{option:signatureHeader}', encoding: 'hex' }),
    advancedSecret: hmacScheme({
      signature: { in: 'header:{option:signatureHeader}', pairs: { signature: 'v1', timestamp: 't' } },
      encoding: 'hex',
      // A comma, not a dot.
      signed: '{timestamp},{body}',
      timestamp: { in: 'signature', unit: 's' },
    }),
  },
  options: {
    signatureHeader: {
      what: 'The signature header, from the project settings',
      default: 'x-convoy-signature',
      example: 'x-convoy-signature',
    },
  },
  // The producer defines the body. unchecked: that it has its type there.
  events: {
    id: 'header:x-convoy-event-id',
    type: ['json:event_type', 'json:event', 'json:type'],
    reference: 'json:data.id',
  },
  // A setting of the project.
  retryWindowMs: null,
  keepHeaders: ['x-convoy-event-id', 'x-convoy-eventdelivery-id', 'x-convoy-idempotency-key'],
  samples: sampleFile('convoy'),
})
