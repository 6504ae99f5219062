import { defineProvider, ecdsaScheme, hours } from '../verification/define-provider.js'

export const sendgrid = defineProvider({
  key: 'sendgrid',
  name: 'SendGrid (event webhook)',
  docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
  confidence: 'verified',
  aliases: { verificationKey: 'publicKey' },
  // The verification key is shown as base64 of its DER form; that or PEM will do.
  verify: ecdsaScheme({
    signature: 'header:x-twilio-email-event-webhook-signature',
    encoding: 'base64',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:x-twilio-email-event-webhook-timestamp', unit: 's' },
  }),
  events: { each: '[]', id: 'json:sg_event_id', type: 'json:event', reference: 'json:sg_message_id' },
  // Duplicates have been seen 29 hours later (sendgrid issue 2933); the dedupe horizon is far longer.
  retryWindowMs: hours(24),
  samples: {
    delivered: [
      {
        email: 'example@example.com',
        timestamp: '{now:s}',
        'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
        event: 'delivered',
        sg_event_id: '{id}',
        sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
        response: '250 OK',
      },
      {
        email: 'second@example.com',
        timestamp: '{now:s}',
        event: 'open',
        sg_event_id: '{id}-2',
        sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.1',
        useragent: 'Mozilla/5.0',
      },
    ],
    bounce: [
      {
        email: 'nobody@example.com',
        timestamp: '{now:s}',
        event: 'bounce',
        sg_event_id: '{id}',
        sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.2',
        reason: '500 unknown recipient',
        status: '5.0.0',
      },
    ],
  },
})
