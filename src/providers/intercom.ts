import { choose, defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const intercom = defineProvider({
  key: 'intercom',
  name: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The secret is the client secret of the app.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: { in: 'header:x-hub-signature', prefix: 'sha1=' },
    encoding: 'hex',
  }),
  events: {
    id: 'json:id',
    type: 'json:topic',
    // The tag of a contact has no id.
    reference: ['json:data.item.id', 'json:data.item.contact.id', 'json:data.item.user.id'],
    references: {
      contact: [
        choose('json:data.item.type', {
          contact: 'json:data.item.id',
          user: 'json:data.item.id',
          lead: 'json:data.item.id',
        }),
        'json:data.item.contacts.contacts[].id',
        'json:data.item.contact.id',
        'json:data.item.user.id',
      ],
      company: choose('json:data.item.type', { company: 'json:data.item.id' }),
      conversation: choose('json:data.item.type', { conversation: 'json:data.item.id' }),
    },
    // delivery_attempts changes with each attempt.
    content: 'none',
  },
  handshakes: [
    // Intercom tests the URL before it saves it.
    { when: { method: 'HEAD' }, signed: false, reply: {} },
    // Sent on registration; its id is null.
    { when: { 'json:topic': 'ping' }, signed: true, reply: {} },
  ],
  // unchecked: one retry, after a minute.
  retryWindowMs: minutes(6),
  disables: {
    when: 'suspends the webhooks of a private app after 7 days of failures',
    again: 'Press Set live on the Webhooks page of the app in the Developer Hub.',
    docs: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'notif_',
  samples: sampleFile('intercom'),
})
