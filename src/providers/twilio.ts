import {
  type ContentFunction,
  choose,
  composite,
  defineProvider,
  hash,
  hmacScheme,
  hours,
  join,
  optional,
  seconds,
  sortedForm,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * Twilio signs the URL with or without the port, depending on the product. Its own library tries both, with the default
 * port if the URL has none.
 */
const withOtherPort: ContentFunction = () => (reading) => {
  const url = reading.url.replace(
    /^(https?):\/\/((?:[^/?#]*@)?(?:\[[^\]/?#]*\]|[^/?#:]*))(:\d*)?/,
    (_, scheme: string, host: string, port?: string) =>
      `${scheme}://${host}${port === undefined ? (scheme === 'https' ? ':443' : ':80') : ''}`,
  )
  return url === reading.url ? null : [url, sortedForm(reading) ?? '']
}

/** Every form has it; a GET has it in the query. */
const account = ['form:AccountSid', 'query:AccountSid'] as const

export const twilio = defineProvider({
  key: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
  confidence: 'verified',
  aliases: { authToken: 'secret' },
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-twilio-signature',
    encoding: 'base64',
    // A form is signed together with the URL. For any other body, the signed URL must have its hash.
    signed: ['{url}{sorted-form?}', withOtherPort],
    bodyHashIn: 'query:bodySHA256',
  }),
  format: 'form',
  events: [
    {
      id: [
        // Events of TaskRouter have an id.
        composite('form:WorkspaceSid', 'form:EventType', 'form:Sid'),
        // Conversations: RetryCount changes the body with each attempt, so the body cannot be the id.
        composite(
          'form:EventType',
          'form:ConversationSid',
          ['form:DateUpdated', 'form:DateCreated', 'form:DateRemoved'],
          optional('form:MessageSid'),
          optional('form:ParticipantSid'),
          optional('form:DeliveryReceiptSid'),
          optional(['form:Status', 'form:StateTo']),
        ),
        // Each status has the same SID.
        composite(['form:MessageSid', 'form:SmsSid'], ['form:MessageStatus', 'form:SmsStatus']),
        composite('form:CallSid', 'form:CallStatus', 'form:CallbackSource', 'form:SequenceNumber'),
        // Other requests (<Gather>, <Dial>, recordings, conferences, ...) have no id, and many no time: a caller may
        // press the same key twice. The token distinguishes them and is the same on a retry. It is not signed, so the
        // id also has the signed content.
        composite(account, 'signed', optional('header:i-twilio-idempotency-token')),
      ],
      type: [
        'form:EventType',
        'form:StatusCallbackEvent',
        join('.', 'const:recording', 'form:RecordingStatus'),
        join('.', 'const:transcription', ['form:TranscriptionStatus', 'form:TranscriptionEvent']),
        'form:MessageStatus',
        'form:CallStatus',
        'form:SmsStatus',
        'query:MessageStatus',
        'query:CallStatus',
        'query:SmsStatus',
      ],
      reference: [
        'form:ConversationSid',
        'form:ConferenceSid',
        'form:RoomSid',
        'form:TaskSid',
        // Each message that was received has another SID: the reference is who writes to which number. Hashed, because
        // references are not encrypted.
        choose('form:SmsStatus', { received: hash('form:From', 'form:To') }),
        'form:MessageSid',
        'form:CallSid',
        'form:SmsSid',
        'query:MessageSid',
        'query:CallSid',
      ],
      // Not the numbers: references are not encrypted.
      references: {
        message: ['form:MessageSid', 'form:SmsSid', 'query:MessageSid'],
        call: ['form:CallSid', 'query:CallSid'],
        conversation: 'form:ConversationSid',
        account,
      },
    },
    // Event Streams: an array of CloudEvents.
    {
      each: '[]',
      id: composite('json:source', 'json:id'),
      type: 'json:type',
      reference: ['json:data.messageSid', 'json:data.payload.task_sid', 'json:source'],
      otherwise: true,
    },
  ],
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(15), contentType: 'text/xml', body: '<Response/>' },
  keepHeaders: ['i-twilio-idempotency-token'],
  sampleId: 'SM',
  samples: sampleFile('twilio'),
})
