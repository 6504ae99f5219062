import { composite, defineProvider, hmacScheme, join, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Transactional e-mail. Marketing (audience) webhooks are not signed and not supported. */
export const mailchimp = defineProvider({
  key: 'mailchimp',
  name: 'Mailchimp Transactional (Mandrill)',
  docs: 'https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/',
  confidence: 'verified',
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-mandrill-signature',
    encoding: 'base64',
    signed: '{url}{sorted-form}',
  }),
  format: 'form',
  document: { form: 'mandrill_events' },
  events: {
    each: '[]',
    id: [
      // _id is that of the message, for each of its events; a message can be opened or clicked twice in a second.
      composite('json:event', 'json:_id', 'json:ts', optional('json:url'), optional('json:ip')),
      // Inbound mail and changes of the reject lists have no _id.
      composite(['json:event', 'json:type'], 'json:ts', 'hash'),
    ],
    type: ['json:event', join('.', 'json:type', 'json:action')],
    reference: ['json:_id', 'json:msg.email', 'json:reject.email'],
  },
  handshakes: [
    // unchecked: both are sent when the webhook is created, before its key is known; the second is signed with the key
    // `test-webhook`. Neither has an event.
    { when: { method: 'HEAD' }, signed: false, reply: {} },
    { when: { 'form:mandrill_events': '[]' }, signed: false, reply: {} },
  ],
  retryWindowMs: null,
  samples: sampleFile('mailchimp'),
})
