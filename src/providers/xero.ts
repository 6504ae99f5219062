import {
  choose,
  composite,
  defineProvider,
  hmacScheme,
  hours,
  join,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const xero = defineProvider({
  key: 'xero',
  name: 'Xero',
  docs: 'https://developer.xero.com/documentation/guides/webhooks/overview/',
  confidence: 'verified',
  aliases: { webhookKey: 'secret', webhooksKey: 'secret' },
  // The webhook key looks like base64 but is not decoded.
  verify: hmacScheme({ signature: 'header:x-xero-signature', encoding: 'base64' }),
  events: {
    each: 'events[]',
    // There is no event id, and `entropy` makes every body different.
    id: composite(
      'json:tenantId',
      'json:eventCategory',
      'json:eventType',
      'json:resourceId',
      'json:eventDateUtc',
    ),
    type: join('.', 'json:eventCategory', 'json:eventType'),
    reference: 'json:resourceId',
    references: {
      contact: choose('json:eventCategory', { CONTACT: 'json:resourceId' }),
      invoice: choose('json:eventCategory', { INVOICE: 'json:resourceId' }),
      tenant: 'json:tenantId',
    },
  },
  // "Intent to receive": no events, with valid and with invalid signatures. Invalid ones must get a 401.
  handshakes: [{ when: { 'json:events': [] }, signed: true, reply: {} }],
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5), httpStatus: 200, contentType: 'text/plain', body: '' },
  samples: sampleFile('xero'),
})
