import { defineProvider, ecdsaScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const sendgrid = defineProvider({
  key: 'sendgrid',
  name: 'SendGrid (event webhook)',
  docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
  confidence: 'verified',
  aliases: { verificationKey: 'publicKey' },
  // The verification key is base64 of its DER form; PEM is accepted too.
  verify: ecdsaScheme({
    signature: 'header:x-twilio-email-event-webhook-signature',
    encoding: 'base64',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:x-twilio-email-event-webhook-timestamp', unit: 's' },
  }),
  sharedKey: false,
  events: { each: '[]', id: 'json:sg_event_id', type: 'json:event', reference: 'json:sg_message_id' },
  // A duplicate was reported 29 hours later (sendgrid issue 2933); the dedupe horizon is longer.
  retryWindowMs: hours(24),
  samples: sampleFile('sendgrid'),
})
