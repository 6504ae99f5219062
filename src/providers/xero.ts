import {
  composite,
  defineProvider,
  hmacScheme,
  hours,
  join,
  seconds,
} from '../verification/define-provider.js'

export const xero = defineProvider({
  key: 'xero',
  name: 'Xero',
  docs: 'https://developer.xero.com/documentation/guides/webhooks/overview/',
  confidence: 'verified',
  aliases: { webhookKey: 'secret', webhooksKey: 'secret' },
  // The webhook key looks like base64 and is used as it stands.
  verify: hmacScheme({ signature: 'header:x-xero-signature', encoding: 'base64' }),
  events: {
    each: 'events[]',
    // There is no event id, and `entropy` makes every body another.
    id: composite(
      'json:tenantId',
      'json:eventCategory',
      'json:eventType',
      'json:resourceId',
      'json:eventDateUtc',
    ),
    type: join('.', 'json:eventCategory', 'json:eventType'),
    reference: 'json:resourceId',
  },
  // "Intent to receive": no events, some rightly signed and some not. The latter must be refused with 401.
  handshakes: [{ when: { 'json:events': [] }, signed: true, reply: {} }],
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5), httpStatus: 200, contentType: 'text/plain', body: '' },
  samples: {
    'CONTACT.UPDATE': {
      events: [
        {
          resourceUrl: 'https://api.xero.com/api.xro/2.0/Contacts/717f2bfc-c6d4-41fd-b238-3f2f0c0cf777',
          resourceId: '{id}',
          eventDateUtc: '2024-06-21T01:15:39.902',
          eventType: 'UPDATE',
          eventCategory: 'CONTACT',
          tenantId: 'c2cc9b6e-9458-4c7d-93cc-f02b81b0594f',
          tenantType: 'ORGANISATION',
        },
      ],
      firstEventSequence: 1,
      lastEventSequence: 1,
      entropy: 'S0m3r4Nd0mt3xt',
    },
    'INVOICE.CREATE': {
      events: [
        {
          resourceUrl: 'https://api.xero.com/api.xro/2.0/Invoices/44aa0707-f718-4f1c-8d53-f2da9ca59533',
          resourceId: '{id}',
          eventDateUtc: '2024-06-21T01:15:40.117',
          eventType: 'CREATE',
          eventCategory: 'INVOICE',
          tenantId: 'c2cc9b6e-9458-4c7d-93cc-f02b81b0594f',
          tenantType: 'ORGANISATION',
        },
        {
          resourceUrl: 'https://api.xero.com/api.xro/2.0/Invoices/44aa0707-f718-4f1c-8d53-f2da9ca59533',
          resourceId: '{id}',
          eventDateUtc: '2024-06-21T01:15:41.550',
          eventType: 'UPDATE',
          eventCategory: 'INVOICE',
          tenantId: 'c2cc9b6e-9458-4c7d-93cc-f02b81b0594f',
          tenantType: 'ORGANISATION',
        },
      ],
      firstEventSequence: 2,
      lastEventSequence: 3,
      entropy: 'UWJFYWxkSmFkZQ',
    },
  },
})
