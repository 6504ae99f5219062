import { defineProvider, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const strapi = defineProvider({
  key: 'strapi',
  name: 'Strapi',
  docs: 'https://docs.strapi.io/cms/backend-customization/webhooks',
  confidence: 'verified',
  // Nothing is signed; a custom header of the webhook is the only proof. `secret`: `Authorization: Bearer <secret>`.
  // `headerSecret`: the whole value of a header with another name.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    headerSecret: tokenScheme({ in: 'header:{option:header}' }),
  },
  options: {
    header: {
      what: 'The custom header of the webhook with `headerSecret`, in lower case',
      default: 'x-webhook-secret',
      example: 'x-webhook-secret',
    },
  },
  events: {
    // There is no event id; createdAt is the time of sending, in milliseconds.
    id: 'hash',
    type: ['json:event', 'header:x-strapi-event'],
    reference: ['json:entry.documentId', 'json:entry.id', 'json:media.id'],
  },
  // Strapi does not retry.
  retryWindowMs: 0,
  answer: { timeLimitMs: seconds(10) },
  sampleHeaders: { 'x-strapi-event': '{type}' },
  samples: sampleFile('strapi'),
})
