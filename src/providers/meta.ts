import {
  composite,
  days,
  defineProvider,
  hash,
  hmacScheme,
  join,
  optional,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * A message and its deletion share one `mid`. Other events (read, delivery, postback) have none; time and bytes identify
 * them.
 */
const messagingId = [
  composite('json:message.mid', optional('json:message.is_deleted'), optional('json:message.is_echo')),
  composite('json:sender.id', 'json:timestamp', 'hash'),
]
const messagingType = join('.', 'json:$.object', 'keys:sender,recipient,timestamp')

export const meta = defineProvider({
  key: 'meta',
  name: 'Meta (WhatsApp, Messenger, Instagram, Pages)',
  docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
  confidence: 'likely',
  aliases: { appSecret: 'secret' },
  // The app secret. x-hub-signature (SHA-1) is for old receivers and is not read.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' }, encoding: 'hex' }),
  options: {
    verifyToken: {
      what: 'The verify token that you entered in the app dashboard',
      example: 'my-verify-token',
    },
  },
  // unchecked: the paths, except those of WhatsApp messages.
  events: [
    {
      each: 'entry[].changes[].value.messages[]',
      id: 'json:id',
      type: join('.', 'json:$.object', 'json:^.field'),
      // The conversation. Hashed, because references are not encrypted and the sender is a phone number.
      reference: [
        hash('json:^.value.metadata.phone_number_id', 'json:from'),
        'json:^.value.metadata.phone_number_id',
      ],
    },
    // The statuses sent, delivered and read have the id of the message.
    {
      each: 'entry[].changes[].value.statuses[]',
      id: composite('json:id', 'json:status', optional('json:recipient_id')),
      type: join('.', 'json:$.object', 'const:statuses'),
      reference: 'json:id',
    },
    // Other changes have no id. Without the time of the entry, a value that changes back would be lost.
    {
      each: 'entry[].changes[]',
      id: composite('json:^.id', optional('json:^.time'), 'hash'),
      type: join('.', 'json:$.object', 'json:field'),
      // The post of a page, the media of an Instagram comment, the message template; else the page or account.
      reference: ['json:value.post_id', 'json:value.media.id', 'json:value.message_template_id', 'json:^.id'],
      otherwise: true,
    },
    { each: 'entry[].messaging[]', id: messagingId, type: messagingType, reference: 'json:sender.id' },
    // The events that the app in control of the conversation gets as `messaging`.
    {
      each: 'entry[].standby[]',
      id: composite('const:standby', messagingId),
      type: messagingType,
      reference: 'json:sender.id',
    },
    // A subscription without values has only `changed_fields`.
    { each: 'entry[]', id: 'hash', type: 'json:$.object', reference: 'json:id', otherwise: true },
  ],
  handshakes: [
    {
      when: { 'query:hub.mode': 'subscribe', 'query:hub.verify_token': '{option:verifyToken}' },
      needsOption: 'verifyToken',
      signed: false,
      reply: { text: '{query:hub.challenge}' },
    },
  ],
  // WhatsApp; unchecked: 36 hours for the others.
  retryWindowMs: days(7),
  sampleId: 'wamid.',
  samples: sampleFile('meta'),
})
